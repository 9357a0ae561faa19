// Packs the plugin once for all tests of the real host; they get the path with `inject('tarball')`.

import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TestProject } from 'vitest/node'
import { packTarball } from './host.ts'

declare module 'vitest' {
  interface ProvidedContext { tarball: string }
}

/** Runs before the first test; what it returns runs after the last. */
export function setup(project: TestProject) {
  const tarball = packTarball()
  project.provide('tarball', tarball)
  return () => rmSync(dirname(tarball), { recursive: true, force: true })
}
