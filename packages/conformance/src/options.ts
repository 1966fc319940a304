/** The options of the command. */
import { parseArgs } from 'node:util'
import { type Level, levels } from './types.ts'

export const help = `greenroom-conformance --adapter <name or file> --url <base URL>

  --adapter NAME|FILE  greenroom, responses, ai-sdk, ag-ui, langgraph, or a module
  --url URL            the base URL of the server under test
  --url2 URL           that of a second instance, for the level cluster
  --level LEVEL        stream, resume (default), durable or cluster; each holds those before it
  --agent NAME         the agent, model or assistant that the checks talk to
  --key KEY            sent as a bearer token
  --login USER:PASS    for the management of the server, where the adapter sets it up
  --model-port PORT    of the suite's model; default: a free one
  --setup COMMAND      run before the checks, with MODEL_URL set
  --kill COMMAND       kills the server at --url; SERVER_PID is set if the suite has started it
  --start COMMAND      starts it
  --only REGEXP        only checks whose ids match
  --timeout SECONDS    of a check; default 30
  --json FILE          writes the outcomes
  --list               lists the checks
  --help, --version
`

/** A wrong use of the command: one line, and exit code 2. */
export class UsageError extends Error {}

export interface Options {
  adapter: string
  url: string
  url2: string | null
  level: Level
  agent: string | null
  key: string | null
  login: string | null
  modelPort: number
  setup: string | null
  kill: string | null
  start: string | null
  only: RegExp | null
  timeoutMs: number
  json: string | null
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const known = {
  ...{ adapter: text, url: text, url2: text, level: text, agent: text, key: text, login: text, 'model-port': text },
  ...{ setup: text, kill: text, start: text, only: text, timeout: text, json: text },
  ...{ list: flag, help: flag, version: flag },
} as const

type Values = ReturnType<typeof parse>

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
  }
}

/** Returns what is asked for. Throws `UsageError` with one line for a wrong option. */
export function readOptions(args: readonly string[]): Options | 'list' | 'help' | 'version' {
  const values = parse(args)
  if (values.help) return 'help'
  if (values.version) return 'version'
  if (values.list) return 'list'
  const level = levelOf(values.level ?? 'resume')
  const options = {
    adapter: required('adapter', values.adapter),
    url: urlOf('url', required('url', values.url)),
    url2: values.url2 === undefined ? null : urlOf('url2', values.url2),
    level,
    agent: values.agent ?? null,
    key: values.key ?? null,
    login: values.login ?? null,
    modelPort: numberOf('model-port', values['model-port'] ?? '0', 65_535),
    setup: values.setup ?? null,
    kill: values.kill ?? null,
    start: values.start ?? null,
    only: patternOf(values),
    timeoutMs: 1000 * numberOf('timeout', values.timeout ?? '30', 86_400),
    json: values.json ?? null,
  }
  const isKilled = level === 'durable' || level === 'cluster'
  if (isKilled && (options.kill === null || options.start === null))
    throw new UsageError(`--level ${level} needs --kill and --start.`)
  if (level === 'cluster' && options.url2 === null) throw new UsageError('--level cluster needs --url2.')
  return options
}

function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing; see --help.`)
  return value
}

function levelOf(word: string): Level {
  const level = levels.find((one) => one === word)
  if (level === undefined) throw new UsageError(`--level ${JSON.stringify(word)}: expected ${levels.join(', ')}.`)
  return level
}

function urlOf(name: string, value: string): string {
  const isUrl = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
  if (!isUrl) throw new UsageError(`--${name} ${JSON.stringify(value)} is no http URL.`)
  return value.replace(/\/+$/, '')
}

function numberOf(name: string, value: string, most: number): number {
  const number = Number(value)
  const isTime = name === 'timeout'
  const isGood = value !== '' && (isTime ? number > 0 : number >= 0 && Number.isInteger(number)) && number <= most
  if (!isGood) throw new UsageError(`--${name} ${JSON.stringify(value)}: expected a number up to ${most}.`)
  return number
}

function patternOf({ only }: Values): RegExp | null {
  if (only === undefined) return null
  try {
    return new RegExp(only)
  } catch {
    throw new UsageError(`--only ${JSON.stringify(only)} is no regular expression.`)
  }
}
