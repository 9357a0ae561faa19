// One load of the plugin in a fresh process: first what a host has loaded already, then what the plugin depends on besides, then the
// plugin. Prints milliseconds as JSON.

import { readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { pathToFileURL } from 'node:url'
import { loadPlugin, pluginPath } from './lab.ts'
import { cpuNow } from './measure.ts'
import type { Load, Spent } from './package.ts'

const source = readFileSync(pluginPath(), 'utf8')
const imports = source.matchAll(/^import .*from "(@deepseek-ai\/[^"]+)";$/gm)
const needed = new Set([...imports].map(([, name]) => name!))
const own = [...source.matchAll(/^import .*from "([^"@.][^":]*)";$/gm)].map(([, name]) => name!).filter(name => !isBuiltin(name))
const fromPlugin = createRequire(pluginPath())

const host = await timed(async () => { for (const name of needed) await import(name) })
// As the plugin would find them: not this repository's.
const dependencies = await timed(async () => { for (const name of own) await import(pathToFileURL(fromPlugin.resolve(name)).href) })
const plugin = await timed(loadPlugin)
console.log(JSON.stringify({ host, dependencies, plugin } satisfies Load))

async function timed(load: () => Promise<unknown>): Promise<Spent> {
  const [start, cpu] = [performance.now(), cpuNow()]
  await load()
  return { ms: performance.now() - start, cpu: cpuNow() - cpu }
}
