// What a user installs, and the ways to install it: the tarball's content, what the built module asks of a host, folders and links.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost } from '../support/host.ts'
import { REVIEWER_MODEL, startModelServer, text } from '../support/model-server.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL }

/** The tarball's content, as a folder. */
let folder: string
let root: string

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-advisor-install-')))
  execFileSync('tar', ['-xzf', inject('tarball'), '-C', root])
  folder = join(root, 'package')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function files(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll('\\', '/'))
    .sort()
}

function manifest(): Record<string, Record<string, unknown>> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Every module a built file loads, static or dynamic. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(folder, file), 'utf8')
  const loads = /^(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/gm
  return [...source.matchAll(loads)].map(([, named, bare, called]) => (named ?? bare ?? called)!)
}

/** A host with a plugin taken from `spec`, and one run with the advisor on. */
async function runFrom(spec: string) {
  await using server = await startModelServer({ primary: () => text('answer') })
  await using host = await createHost({ server })
  const added = await host.add(spec)
  host.settings({ advisor: ON })
  const run = await host.run('Do the job')
  return { added: added.stdout + added.stderr, run, reviews: server.of('reviewer').length }
}

test('the tarball holds what it needs and nothing else, under 200 kB', () => {
  expect(statSync(inject('tarball')).size).toBeLessThan(200_000)
  expect(files()).toEqual(expect.arrayContaining([
    'LICENSE', 'README.md', 'README.zh.md', 'CHANGELOG.md', 'cordis.patch.yml', 'dsh-plugin.json', 'lib/index.d.ts', 'lib/index.js', 'package.json',
  ]))
  expect(files().filter(file => !/^(lib\/|LICENSE$|README(\.zh)?\.md$|CHANGELOG\.md$|cordis\.patch\.yml$|dsh-plugin\.json$|package\.json$)/.test(file)))
    .toEqual([])
})

test('every file that the manifest names is there', () => {
  const { exports, dsh } = manifest()
  const named = JSON.stringify([exports, dsh]).match(/\.\/[\w./-]+(?=")/g) ?? []
  expect(named.filter(path => path.includes('.', 2)).map(path => path.slice(2)).filter(path => !files().includes(path))).toEqual([])
})

test('the built module loads only Node and the packages it declares', () => {
  const { dependencies, peerDependencies } = manifest()
  const declared = Object.keys({ ...dependencies, ...peerDependencies })
  const loaded = files().filter(file => file.endsWith('.js')).flatMap(importsOf)
  expect(loaded.length).toBeGreaterThan(0)
  expect(loaded.filter(id => !id.startsWith('.') && !isBuiltin(id) && !declared.includes(id))).toEqual([])
  expect(loaded.filter(isBuiltin).filter(id => !id.startsWith('node:'))).toEqual([])
})

test('the built module has what the host looks for, and no default export to hide it', async () => {
  // A module finds its peers from where it lies.
  const copy = join(root, 'beside')
  cpSync(folder, copy, { recursive: true })
  symlinkSync(MODULES, join(copy, 'node_modules'), 'dir')
  const module = await import(join(copy, 'lib/index.js'))
  expect(Object.keys(module).sort()).toEqual(['Config', 'REVIEWER_KEY', 'apply', 'inject', 'name'])
  expect(module).toMatchObject({ name: 'dsh-advisor', inject: expect.arrayContaining(['agents', 'llm']) })
})

test('a folder copied into the profile runs', async () => {
  const { run, reviews } = await runFrom(`file:${folder}`)
  expect(run).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(reviews).toBe(1)
})

test('a linked folder runs when it has its peers and dependencies beside it, as a checkout has', async () => {
  const checkout = join(root, 'checkout')
  cpSync(folder, checkout, { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  symlinkSync(join(MODULES, '@deepseek-ai'), join(checkout, 'node_modules/@deepseek-ai'), 'dir')
  symlinkSync(join(MODULES, 'yaml'), join(checkout, 'node_modules/yaml'), 'dir')
  const { added, run, reviews } = await runFrom(checkout)
  expect(added).toContain('linked')
  expect(run).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(reviews).toBe(1)
})

test('a linked folder without them stops the host, which names the package it cannot find', async () => {
  const { run, reviews } = await runFrom(folder)
  expect(run).toMatchObject({ code: 1, stdout: '' })
  expect(run.stderr).toMatch(/Cannot find package '@deepseek-ai\/[\w-]+' imported from/)
  expect(reviews).toBe(0)
})
