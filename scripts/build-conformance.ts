/** Builds greenroom-conformance into packages/conformance/dist: JavaScript for Node.js 20, and types. Before it is packed. */
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'packages/conformance')
const outDir = join(home, 'dist')

/** Returns the compiler's diagnostics; empty if there are none. */
function compile(): string {
  const { config } = ts.readConfigFile(join(home, 'tsconfig.json'), ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, home)
  const program = ts.createProgram(fileNames, {
    ...options,
    noEmit: false,
    incremental: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    allowImportingTsExtensions: false,
    rootDir: join(home, 'src'),
    outDir,
  })
  const { diagnostics } = program.emit(undefined, (path, text) => {
    // The compiler rewrites imports in JavaScript only.
    ts.sys.writeFile(path, text.replaceAll(/(from '\.{1,2}\/[\w/-]+)\.ts'/g, "$1.js'"))
  })
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => root, getNewLine: () => '\n' }
  return ts.formatDiagnostics([...ts.getPreEmitDiagnostics(program), ...diagnostics], host)
}

await rm(outDir, { recursive: true, force: true })
const problems = compile()
if (problems !== '') {
  console.error(problems)
  exit(1)
}
await copyFile(join(root, 'LICENSE'), join(home, 'LICENSE'))
