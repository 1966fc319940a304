/**
 * The server in a few files: a start from them takes half the processor time, and a full run starts hundreds.
 * Only what is imported moves. Each module keeps its own address, so files beside it, threads and child processes are
 * found among the sources.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { root } from '../quick-files.ts'

const bundles = join(root, 'node_modules/.cache/server')
/** Another run may still use what it has built; none takes a day. */
const KEPT_MS = 86_400_000

const inputs = ['src/**/*.ts', 'openapi/**/*.{ts,json}', 'package-lock.json', 'test/support/programs/server-bundle.ts']

/** Builds it unless one of the same sources is there. Resolves to the file to run. */
export async function bundleServer(): Promise<string> {
  const hash = createHash('sha256').update(root)
  for (const path of globSync(inputs, { cwd: root }).sort()) {
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  }
  const folder = join(bundles, hash.digest('hex').slice(0, 16))
  const main = join(folder, 'main.js')
  if (existsSync(main)) return main
  await removeOld()
  const { build } = await import('vite')
  const fresh = `${folder}.${process.pid}`
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [ownAddresses, ascii],
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: fresh,
      target: 'node24',
      minify: false,
      rolldownOptions: { input: { main: 'src/main.ts' }, output: { entryFileNames: '[name].js' } },
    },
  })
  // Without this, Node parses each file once more to find out what it is.
  await writeFile(join(fresh, 'package.json'), '{ "type": "module" }\n')
  await rename(fresh, folder).catch((error: unknown) => {
    if (!existsSync(main)) throw error // else another run was first
  })
  return main
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(bundles).catch(() => [])) {
    const path = join(bundles, name)
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true })
  }
}

const ownAddresses: Plugin = {
  name: 'own-addresses',
  enforce: 'pre',
  transform(code, id) {
    const path = id.split('?')[0] ?? id
    if (!path.startsWith('/')) return null
    const own = code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
    if (/(?:const|let|var) __(?:dirname|filename)/.test(code)) return own
    return own
      .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(path)))
      .replaceAll(/\b__filename\b/g, JSON.stringify(path))
  },
}

/**
 * A plugin that escapes characters beyond Latin-1: one of them doubles what V8 holds of a file. They stand in strings
 * and comments alone.
 */
const ascii: Plugin = {
  name: 'ascii',
  renderChunk: (code) =>
    code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
}
