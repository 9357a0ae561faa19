// Lets the build and the tests import a prompt file as its text. Both must use it, or they would send different prompts.

import { readFileSync } from 'node:fs'

/** A rolldown and vite plugin: `import text from './x.md'` gives the file's exact content. */
export function markdownAsText() {
  return {
    name: 'markdown-as-text',
    load(id: string) {
      if (!id.endsWith('.md')) return null
      return { code: `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`, moduleType: 'js' as const }
    },
  }
}
