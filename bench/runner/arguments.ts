/** The command line. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { allCases } from '../cases/all.ts'
import { allContenders } from '../contenders/all.ts'
import { type Checkout, ownCheckout } from '../environment/checkout.ts'
import { resultsFile } from '../figures/results.ts'
import type { Case } from './case.ts'
import type { Contender } from './contender.ts'

export type Wanted = {
  cases: Case[]
  contenders: Contender[]
  checkouts: Checkout[]
  repetitions: number
  /**
   * Whether the results are written: `always` with `--write`, `if clean` when every contender takes part at least three
   * times. A dirty tree is never recorded; with `always` it is an error at once.
   */
  recording: 'always' | 'if clean' | 'never'
  /** Target file; RESULTS.md is written beside it. */
  file: URL
}

/** Throws when a name is unknown; the message lists the known ones. */
export function readArguments(args: string[]): Wanted {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      reps: { type: 'string', default: '3' },
      greenroom: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
      results: { type: 'string' },
    },
  })
  const checkouts = readCheckouts(values.greenroom)
  const contenders = allContenders(checkouts)
  const only = values.only?.split(',')
  const repetitions = Number(values.reps)
  const names = allCases.flatMap(({ name, group }) => [name, ...(group ? [group] : [])])
  check('case', positionals, names)
  check(
    'contender',
    only ?? [],
    contenders.map(({ name }) => name),
  )
  const isWhole = only === undefined && repetitions >= 3 && values.greenroom.length === 0
  if (!(repetitions >= 1)) throw new Error('--reps must be a whole number of at least 1.')
  return {
    cases: allCases.filter(({ name, group = name }) => {
      return positionals.length === 0 || positionals.includes(name) || positionals.includes(group)
    }),
    contenders: contenders.filter(({ name }) => only?.includes(name) ?? true),
    checkouts,
    repetitions,
    recording: values.write || values.results !== undefined ? 'always' : isWhole ? 'if clean' : 'never',
    file: values.results === undefined ? resultsFile : pathToFileURL(fromCaller(values.results)),
  }
}

/** Resolves a path relative to the folder in which npm was called. */
const fromCaller = (path: string): string => resolve(process.env.INIT_CWD ?? '.', path)

/** Reads checkouts, each `name=path` or `path`. */
function readCheckouts(given: readonly string[]): Checkout[] {
  if (given.length === 0) return [ownCheckout]
  return given.map((one) => {
    const [name, path] = one.includes('=') ? one.split('=', 2) : [null, one]
    return { name: name ?? null, path: fromCaller(path ?? '.') }
  })
}

function check(what: string, named: readonly string[], known: readonly string[]): void {
  const unknown = named.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new Error(`No ${what} ${unknown.join(', ')}. There are: ${[...new Set(known)].join(', ')}.`)
}
