// The package's contract with a host and its package manager, read from the manifests.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const require = createRequire(import.meta.url)
const semver: { satisfies(version: string, range: string): boolean, validRange(range: string): string | null } = require('semver')

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const manifest = JSON.parse(read('package.json'))
const peers: [name: string, range: string][] = Object.entries(manifest.peerDependencies)
const installed = (name: string): string => require(`${name}/package.json`).version

/** Published versions of the host's packages, and whether this plugin claims to run on them. */
const HOSTS = [
  ['0.1.0-rc.6', true], ['0.1.0-rc.7', true], ['0.1.0-rc.8', true], ['0.1.1-rc.2', true], ['0.1.5-rc.2', true], ['0.1.7-rc.1', true],
  ['0.1.7', true], ['0.0.1-rc.1', false], ['0.2.0-rc.2', false], ['0.2.0', false], ['1.0.0', false],
] as const

/** The framework below the host has its own versions: those it was built with, and those a plain install takes today. */
const FRAMEWORK = [
  ['@deepseek-ai/cordis', '4.0.1', true], ['@deepseek-ai/cordis', '4.0.4', true], ['@deepseek-ai/cordis', '5.0.0', false],
  ['@deepseek-ai/schemastery', '3.18.1', true], ['@deepseek-ai/schemastery', '3.18.4', true], ['@deepseek-ai/schemastery', '4.0.0', false],
] as const

const hostPeers = peers.filter(([name]) => name.startsWith('@deepseek-ai/dsh-'))

test('the packages of the host are peers, so that there is one copy of each', () => {
  const elsewhere = Object.entries(manifest)
    .filter(([field]) => /^(dev|optional|bundled?)?[dD]ependencies$/.test(field))
    .flatMap(([, value]) => Object.keys(value as object))
    .filter(name => name.startsWith('@deepseek-ai/'))
  expect(elsewhere).toEqual([])
  expect(peers.map(([name]) => name)).toEqual(expect.arrayContaining(['@deepseek-ai/cordis', '@deepseek-ai/dsh-agent', '@deepseek-ai/dsh-llm']))
  expect(peers.filter(([name]) => !name.startsWith('@deepseek-ai/'))).toEqual([])
})

test('there is nothing to install beside them but what reads the files that users write', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['yaml'])
  expect(manifest.optionalDependencies ?? {}).toEqual({})
})

test.each(HOSTS)('host packages of version %s match every peer range: %s', (version, matches) => {
  expect(hostPeers.length).toBeGreaterThan(0)
  expect(hostPeers.filter(([, range]) => semver.satisfies(version, range) !== matches)).toEqual([])
})

test.each(FRAMEWORK)('%s of version %s matches its peer range: %s', (name, version, matches) => {
  expect(semver.satisfies(version, manifest.peerDependencies[name])).toBe(matches)
})

test('the host that the tests run on matches every peer range', () => {
  expect(peers.filter(([name, range]) => !semver.satisfies(installed(name), range))).toEqual([])
})

test('installing runs no script', () => {
  const lifecycle = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish']
  expect(Object.keys(manifest.scripts).filter(name => lifecycle.includes(name))).toEqual([])
})

test('the manifest says where everything is and what it runs on', () => {
  expect(manifest).toMatchObject({
    name: 'dsh-advisor', type: 'module', license: 'MIT', main: './lib/index.js', types: './lib/index.d.ts',
    exports: {
      '.': { types: './lib/index.d.ts', default: './lib/index.js' },
      './cordis.patch.yml': './cordis.patch.yml',
      './package.json': './package.json',
    },
    dsh: { bundle: { patch: './cordis.patch.yml' } },
  })
  expect(manifest.files).toEqual(expect.arrayContaining(['lib', 'cordis.patch.yml', 'dsh-plugin.json']))
  expect(manifest.private).toBeUndefined()
  expect(semver.satisfies(process.versions.node, manifest.engines.node)).toBe(true)
  expect(['20.19.0', '22.18.0', '23.0.0'].filter(version => semver.satisfies(version, manifest.engines.node))).toEqual([])
})

test('a profile gains one row, without configuration', () => {
  expect(parse(read('cordis.patch.yml'))).toEqual([{ insert: [{ id: 'advisor', name: 'dsh-advisor' }] }])
})

test('the plugin manifest speaks of the same package', () => {
  const plugin = JSON.parse(read('dsh-plugin.json'))
  expect(plugin).toMatchObject({
    name: manifest.name, version: manifest.version, license: manifest.license, facets: { host: { entry: manifest.main.slice(2) } },
  })
})
