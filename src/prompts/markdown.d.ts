// The build inlines these files as text.
declare module '*.md' {
  const text: string
  export default text
}
