// One load of the plugin in a fresh process: first what a host has loaded already, then the plugin. Prints milliseconds as JSON.

import { readFileSync } from 'node:fs'
import { loadPlugin, pluginPath } from './lab.ts'

const imports = readFileSync(pluginPath(), 'utf8').matchAll(/^import .*from "(@deepseek-ai\/[^"]+)";$/gm)
const needed = new Set([...imports].map(([, name]) => name!))
const start = performance.now()
for (const name of needed) await import(name)
const between = performance.now()
await loadPlugin()
console.log(JSON.stringify({ host: between - start, plugin: performance.now() - between }))
