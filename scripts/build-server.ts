/**
 * Builds the server into a few files if its sources have changed: a start from them takes half the processor time.
 * Runs after `npm ci` and before `npm start`, which runs `started`; a test run starts dozens of processes from them.
 * Only what is imported moves. Each module keeps its own address, so files beside it, threads and child processes are
 * found among the sources.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pid } from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const bundles = join(root, 'node_modules/.cache/server')
/** The file that `npm start` runs: it imports the newest build, or the sources where nothing can be built. */
const started = join(bundles, 'main.js')
/** A server may still load what it needs seldom from an older build. */
const KEPT_MS = 7 * 86_400_000

const inputs = ['src/**/*.ts', 'openapi/**/*.{ts,json}', 'package-lock.json', 'scripts/build-server.ts']

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
  const fresh = `${folder}.${pid}`
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
    const found = await stat(path).catch(() => null) // another build may have removed it
    if (found?.isDirectory() && Date.now() - found.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true })
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

async function main(): Promise<void> {
  const canBuild = existsSync(join(root, 'node_modules/vite'))
  if (!canBuild) console.error('The server starts from its sources: to build it needs the development packages.')
  const entry = canBuild ? await bundleServer() : join(root, 'src/main.ts')
  const text = `import ${JSON.stringify(pathToFileURL(entry))}\n`
  if (existsSync(started) && readFileSync(started, 'utf8') === text) return
  await mkdir(bundles, { recursive: true })
  await writeFile(join(bundles, 'package.json'), '{ "type": "module" }\n')
  await writeFile(`${started}.${pid}`, text)
  await rename(`${started}.${pid}`, started)
}

if (import.meta.main) await main()
