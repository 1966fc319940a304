/**
 * `node scripts/capabilities.ts [--list]`: checks that no file of src speaks of more than six capabilities, that is, imports
 * from so many folders of src/features. Files inside a feature count their own. compose/ is left out: it imports everything.
 * Also checks that no file of src has more than 300 lines: Biome's rule does not count a comment at the beginning.
 * Prints a line for each file that has more, or with `--list` the ten with most capabilities; exit code 1 if there are any.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import ts from 'typescript'

/** The most capabilities that a file may speak of. */
const MOST = 6

const MOST_LINES = 300

const capabilityOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1]

/** Returns the names of the capabilities that the text of this file imports, in order. */
export function capabilitiesIn(path: string, text: string): string[] {
  const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName)
  const targets = imported.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name))
  const named = [path, ...targets].map(capabilityOf).filter((name) => name !== undefined)
  return [...new Set(named)].sort()
}

/** Returns a line for each of these files that speaks of more than `most` capabilities, the fullest first. */
export function tooFull(files: ReadonlyMap<string, string>, most = MOST): string[] {
  return [...files]
    .map(([path, text]) => ({ path, names: capabilitiesIn(path, text) }))
    .filter(({ names }) => names.length > most)
    .sort((a, b) => b.names.length - a.names.length)
    .map(({ path, names }) => `${path}: ${names.length} capabilities (${names.join(', ')})`)
}

/** Returns a line for each of these files that has more than 300 lines. */
export function tooLong(files: ReadonlyMap<string, string>): string[] {
  return [...files]
    .map(([path, text]) => ({ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }))
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path}: ${lines} lines, of at most ${MOST_LINES}`)
}

if (import.meta.main) {
  const all = new Map(globSync('src/**/*.ts').map((path) => [path, readFileSync(path, 'utf8')]))
  const files = new Map([...all].filter(([path]) => !path.startsWith('src/compose/')))
  const long = tooLong(all)
  for (const line of long) console.log(line)
  if (long.length > 0) process.exitCode = 1
  const found = tooFull(files)
  for (const line of argv.includes('--list') ? tooFull(files, 0).slice(0, 10) : found) console.log(line)
  if (found.length > 0) {
    console.error(`A file speaks of ${MOST} capabilities at most: split it by what its parts are for.`)
    process.exitCode = 1
  }
}
