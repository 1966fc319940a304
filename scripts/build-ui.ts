/**
 * Builds the pages into ui/dist if their inputs have changed; otherwise it only checks (50 ms).
 * Runs after `npm ci`, and before `npm start` and `npm test`. `--force` builds in any case.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { argv, exit, pid } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'ui/dist')
/** The file with the hash of the inputs of dist. */
const stamp = join(dist, '.made-of')
const compressible = /\.(?:js|css|svg|html)$/

/** Files of ui/ that are not part of the pages. */
const aside = /^(?:dist|\.dist-\d+|pictures|shots)[/\\]|^(?:measure\.ts|tsconfig\.json|README\.md)$/

/** Returns the inputs of the pages: sources, the client, and the packages' exact versions. */
function hashOfInputs(): string {
  const filesBelow = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => !aside.test(name) && /\.\w+$/.test(name))
      .map((name) => join(folder, name))
  const names = [...filesBelow('ui'), ...filesBelow('packages/client/src')]
  const hash = createHash('sha256')
  for (const name of [...names.sort(), 'package-lock.json']) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** The best compression of 3 MB takes 8 s, and this one 0.3 s for a tenth more bytes. */
const LARGE = 1_000_000
const LARGE_QUALITY = 9

/** Writes a .br and a .gz beside each compressible file: the server itself compresses nothing. */
async function compress(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => compressible.test(name))
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const content = await readFile(path)
      const quality = content.length > LARGE ? LARGE_QUALITY : constants.BROTLI_MAX_QUALITY
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality }
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }))
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
}

/** Builds into a separate folder first: a running server, or another build, never sees half of it. */
async function buildPages(hash: string): Promise<void> {
  const { build } = await import('vite')
  const fresh = join(root, `ui/.dist-${pid}`)
  try {
    await build({ configFile: join(root, 'ui/vite.config.ts'), logLevel: 'warn', build: { outDir: fresh } })
    await compress(fresh)
    await writeFile(join(fresh, '.made-of'), hash)
    await rm(dist, { recursive: true, force: true })
    await rename(fresh, dist)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

async function main(): Promise<number> {
  const hash = hashOfInputs()
  const isFresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
  if (isFresh && !argv.includes('--force')) return 0
  if (!existsSync(join(root, 'node_modules/vite'))) {
    console.error('The pages are not built: that needs the development packages (npm ci without --omit=dev).')
    return 0
  }
  const begin = performance.now()
  await buildPages(hash)
  console.error(`Built the pages in ${((performance.now() - begin) / 1000).toFixed(1)} s.`)
  return 0
}

if (import.meta.main) exit(await main())
