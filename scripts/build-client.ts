/**
 * Builds @greenroom/client into packages/client/dist: JavaScript and types, including those of the contract. Runs after
 * `npm ci`, in `npm run build`, and before the package is packed. Takes three seconds.
 */
import { copyFile, cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'packages/client')

/** Returns the compiler's diagnostics; empty if there are none. `commonjs`: for programs that `require` it. */
async function compile(sources: string, outDir: string, format: 'esm' | 'commonjs'): Promise<string> {
  const { default: ts } = await import('typescript')
  const { config } = ts.readConfigFile(join(home, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, home)
  const program = ts.createProgram([join(sources, 'index.ts')], {
    ...options,
    ...(format === 'commonjs' && {
      module: ts.ModuleKind.CommonJS,
      moduleResolution: ts.ModuleResolutionKind.Node10,
      verbatimModuleSyntax: false,
    }),
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    allowImportingTsExtensions: false,
    rootDir: sources,
    outDir,
  })
  const { diagnostics } = program.emit(undefined, (path, text) => {
    // Files with types only have no JavaScript, and the compiler rewrites imports in JavaScript only.
    if (isCode(text)) ts.sys.writeFile(path, text.replaceAll(/(from '\.{1,2}\/[\w/-]+)\.ts'/g, "$1.js'"))
  })
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' }
  return ts.formatDiagnostics([...ts.getPreEmitDiagnostics(program), ...diagnostics], host)
}

const isCode = (text: string): boolean =>
  text !== 'export {};\n' && text !== '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n'

async function main(): Promise<number> {
  const isInstalled = await import('typescript').then(
    () => true,
    () => false,
  )
  if (!isInstalled) {
    console.error('@greenroom/client is not built: that needs the development packages (npm ci without --omit=dev).')
    return 0
  }
  // It lies beside the sources, so that the compiler treats it as a module. Readers of dist never see half a build.
  const work = await mkdtemp(join(home, '.build-'))
  try {
    const sources = join(work, 'src')
    await cp(join(home, 'src'), sources, { recursive: true })
    // The generated types must be inside the sources to be part of the package.
    await copyFile(join(root, 'openapi/generated/schema.ts'), join(sources, 'schema.ts'))
    const cjs = join(work, 'dist/cjs')
    const problems = (await compile(sources, join(work, 'dist'), 'esm')) || (await compile(sources, cjs, 'commonjs'))
    if (problems !== '') {
      console.error(problems)
      return 1
    }
    await writeFile(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
    await rename(join(home, 'dist'), join(work, 'before')).catch(() => {}) // where there is one
    await rename(join(work, 'dist'), join(home, 'dist'))
    await copyFile(join(root, 'LICENSE'), join(home, 'LICENSE'))
    return 0
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

exit(await main())
