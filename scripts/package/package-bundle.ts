/**
 * Vendors' SDKs bring every build and type of theirs: 150 MB on disk, of which we run a few. The package has them bundled,
 * with their licences; everything else is an ordinary dependency.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const bundled = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  'gpt-tokenizer',
] as const

/** Bundles the entries. `entries`: file name to specifier. Shared code is in chunks next to them. */
export async function bundle(entries: Record<string, string>, folder: string): Promise<void> {
  const { build } = await import('vite')
  const result = await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: folder,
      target: 'node22',
      minify: false,
      rolldownOptions: { input: entries, output: { entryFileNames: '[name].js', chunkFileNames: 'chunk-[hash].js' } },
    },
  })
  const outputs = [result].flat().flatMap((one) => ('output' in one ? one.output : []))
  const modules = outputs.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'LICENSES.txt'), licences(modules))
}

/** Returns the licence of every package that a module came from. */
function licences(modules: readonly string[]): string {
  const folders = modules.flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
  return [...new Set(folders)]
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const [file] = globSync('{LICEN[SC]E,licen[sc]e}*', { cwd: folder })
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
