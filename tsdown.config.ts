import { defineConfig } from 'tsdown'
import { markdownAsText } from './scripts/markdown.ts'

export default defineConfig({
  entry: 'src/index.ts',
  outDir: 'lib',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // `.js` and `.d.ts`, which package.json names.
  fixedExtension: false,
  dts: true,
  clean: true,
  minify: false,
  // They are a fifth of the package, and the sources have them.
  outputOptions: { comments: false },
  // A second copy of a host package would be a second set of services: the plugin must get the host's own.
  deps: { neverBundle: [/^@deepseek-ai\//] },
  plugins: [markdownAsText()],
})
