import { defineConfig } from 'vitest/config'
import { markdownAsText } from './scripts/markdown.ts'

export default defineConfig({
  plugins: [markdownAsText()],
  test: {
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: ['tests/**/*.test.ts'], exclude: ['tests/host-run/**'] },
      },
      {
        extends: true,
        test: {
          name: 'host',
          include: ['tests/host-run/**/*.test.ts'],
          globalSetup: 'tests/support/global-setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // After the others: child processes need the cores, and what they do is timed.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
