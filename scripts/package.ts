// `npm run package`: builds and packs the plugin into this folder, and says how to install it.

import { fileURLToPath } from 'node:url'
import { packPlugin } from './pack.ts'

const tarball = packPlugin(fileURLToPath(new URL('..', import.meta.url)))
console.log(`dsh plugin --profile <profile> add ${tarball}`)
