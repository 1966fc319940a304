/**
 * How `npm start` runs node. All our servers are measured with the same variables and V8 flags, without npm itself: a
 * contender on Node's defaults (four helper threads, a heap that grows further) would be a different experiment.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type NodeStart = {
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** The file that node runs. */
  readonly entry: string
}

export function npmStart(checkout: string): NodeStart {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) // our own file
  const match = /^(.*?)exec node (.*?)(\S+)$/.exec(String(scripts.start))
  if (!match) throw new Error(`The start script of ${checkout} is not "NAME=VALUE … exec node ARGS FILE".`)
  const [, variables = '', args = '', entry = ''] = match
  return {
    env: Object.fromEntries(variables.matchAll(/(\w+)=(\S+)/g).map(([, name = '', value = '']) => [name, value])),
    args: args.split(' ').filter((arg) => arg !== ''),
    entry,
  }
}

/** Returns the command line, for the record. */
export const flagsOf = ({ env, args }: NodeStart): string =>
  ['NODE_ENV=production', ...Object.entries(env).map((pair) => pair.join('=')), ...args].join(' ')
