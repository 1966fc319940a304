/**
 * Determines which test files are quick: those that need no other process. Derived from imports, so there is no list to
 * maintain: a file is quick unless it imports one of `starters`, directly or indirectly.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { isLongFile, type Tier } from './tier.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A worker that the product starts when it has work for it: no test is slow because it might. */
const workers = 'src/async/isolated-worker.ts'

/** Modules that start a process or use one of the run. Paths are relative to the root. */
const starters = new Set([
  'node:child_process',
  'node:cluster',
  'playwright-core',
  'test/support/database.ts',
  'test/support/folder.ts',
])

/** Returns the imports of a source, except types: package names, and paths relative to the root. */
export function importsOf(path: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module
  const names: string[] = []
  for (const { moduleRequest, entries } of staticImports) {
    if (entries.length === 0 || entries.some((entry) => !entry.isType)) names.push(moduleRequest.value)
  }
  for (const { moduleRequest, isType } of staticExports.flatMap(({ entries }) => entries)) {
    if (moduleRequest !== null && !isType) names.push(moduleRequest.value)
  }
  for (const { moduleRequest } of dynamicImports) {
    const literal = /^['"](.+)['"]$/.exec(source.slice(moduleRequest.start, moduleRequest.end))
    if (literal?.[1] !== undefined) names.push(literal[1])
  }
  return names.map((name) => (name.startsWith('.') ? join(dirname(path), name) : name))
}

function createGraph() {
  const known = new Map<string, string[]>()
  return (path: string): string[] => {
    const imports = known.get(path) ?? importsOf(path, sourceOf(path))
    known.set(path, imports)
    return imports
  }
}

const sourceOf = (path: string): string => (path.endsWith('.ts') ? readFileSync(join(root, path), 'utf8') : '')

/** Returns the chain of imports from a file to a process; null if there is none. */
export function wayToProcess(file: string, imports = createGraph()): string[] | null {
  const cameFrom = new Map<string, string | null>([[file, null]])
  for (const path of cameFrom.keys()) {
    if (starters.has(path)) return wayBack(path, cameFrom)
    if (!path.endsWith('.ts') || path === workers) continue
    for (const next of imports(path)) if (!cameFrom.has(next)) cameFrom.set(next, path)
  }
  return null
}

function wayBack(end: string, cameFrom: ReadonlyMap<string, string | null>): string[] {
  const way: string[] = []
  for (let at: string | null = end; at !== null; at = cameFrom.get(at) ?? null) way.unshift(at)
  return way
}

/** Returns every test file, as a path relative to the root. */
export function allTestFiles(): string[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => relative(root, join(root, 'test', name)))
    .sort()
}

/** Returns the files of the short tier that need no other process. */
export function quickFiles(): string[] {
  const imports = createGraph()
  return allTestFiles().filter((file) => !isLongFile(file) && wayToProcess(file, imports) === null)
}

/** Returns every file of a tier. The long tier has those with a matrix, too: the short one runs the first member alone. */
export function filesOf(tier: Tier): string[] {
  const imports = createGraph()
  if (tier === 'short') return allTestFiles().filter((file) => !isLongFile(file))
  return allTestFiles().filter((file) => isLongFile(file) || reaches(file, 'test/support/tier.ts', imports))
}

/** Modules that know the tiers, and have no matrix. */
const withoutMatrix = new Set(['test/support/quick-files.ts', 'test/support/wait.ts'])

function reaches(file: string, module: string, imports: (path: string) => readonly string[]): boolean {
  const reached = new Set([file])
  for (const path of reached) {
    if (path === module) return true
    if (path.endsWith('.ts') && !withoutMatrix.has(path)) for (const next of imports(path)) reached.add(next)
  }
  return false
}
