/**
 * Tells on standard error what a process loads: `node --import loaded-packages.ts …`. A line for each package that sources
 * outside of node_modules load, with the folder of what Node.js keeps of compiled modules.
 */
import { getCompileCacheDir, registerHooks } from 'node:module'

const known = new Set<string>()

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(found.url) ?? []
    if (name !== undefined && !known.has(name) && context.parentURL?.includes('/node_modules/') === false) {
      known.add(name)
      console.error(`loads ${name} ${getCompileCacheDir()}`)
    }
    return found
  },
})
