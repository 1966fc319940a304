/** `greenroom COMMAND`, of the package and of npm's scripts. Owns the process until `start` hands it to main.ts. */
import './disposable-stack.ts'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { hashPassword } from '../features/users/login/password.ts'
import { readSettings } from '../settings.ts'
import { exportFile, importFile, type Server } from './configuration.ts'
import type { DataOptions } from './data.ts'
import { help } from './help.ts'
import { createKey } from './keys.ts'
import type { Terminal } from './terminal.ts'

/** The arguments make no sense, or nothing was done. */
const EXIT_USAGE = 2

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  async ask(question) {
    if (process.stdin.isTTY) process.stderr.write(`${question}\n`)
    const { value, done } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()
    return done ? null : value
  },
}

interface Flags {
  scopes: readonly string[]
  /** True where webhooks are to be switched off in what is restored. */
  noWebhooks: boolean
  /** True where an import is to change nothing. */
  isTried: boolean
  /** True where an import is to change drafts alone. */
  draft: boolean
}

type Command = (given: string[], flags: Flags) => Promise<number>

const server = (): Server => ({
  url: serverUrl(process.env.GREENROOM_URL || 'http://127.0.0.1:8080'),
  login: process.env.GREENROOM_LOGIN || undefined,
  key: process.env.GREENROOM_KEY || undefined,
})

function serverUrl(given: string): string {
  if (/^https?:\/\/[^/]/i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '')
  throw new Error(`GREENROOM_URL: ${JSON.stringify(given)} is no address. It begins with http:// or https://.`)
}

const version = async (): Promise<string> =>
  JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')).version

/** Loads commands on data on use: they need the database's driver. */
const onData =
  (
    run: (
      data: typeof import('./data.ts'),
      options: DataOptions,
      databaseUrl: string | null,
      arguments_: { first: string; second: string; noWebhooks: boolean },
    ) => Promise<void>,
  ): Command =>
  async ([first = '', second = ''], { noWebhooks }) => {
    const [data, { chooseDataFolder }, { startFault }] = await Promise.all([
      import('./data.ts'),
      import('../compose/start/data-folder.ts'),
      import('../compose/start/start-fault.ts'),
    ])
    const settings = readSettings(process.env)
    // DATABASE_URL may be where the data goes: the embedded database is still meant.
    const embedded = { ...settings, databaseUrl: null }
    const { dataDir } = await chooseDataFolder(embedded, process.env.DATA_DIR, process.cwd(), terminal.err)
    const explain = (error: unknown, url: string) => startFault(error, { ...settings, databaseUrl: url })
    await run(data, { dataDir, terminal, explain }, settings.databaseUrl, { first, second, noWebhooks })
    return 0
  }

const commands: Record<string, { takes: keyof typeof counts; run: Command }> = {
  import: {
    takes: 'one',
    run: ([file = ''], { isTried, draft }) =>
      importFile(server(), file, { terminal, environment: process.env, isTried, draft }),
  },
  export: { takes: 'at most one', run: ([file]) => exportFile(server(), file, terminal) },
  key: {
    takes: 'create NAME as',
    run: ([action, name = ''], { scopes }) =>
      action === 'create' ? createKey(server(), { name, scopes }, terminal) : Promise.reject(new Error(keyUsage)),
  },
  'hash-password': { takes: 'no', run: hash },
  move: {
    takes: 'at most one',
    run: onData(async ({ moveTo }, options, databaseUrl, { first: given }) =>
      moveTo(given === '' && databaseUrl ? databaseUrl : await targetOf(given, 'move'), options),
    ),
  },
  backup: {
    takes: 'one or two',
    run: onData(async ({ backUp }, options, databaseUrl, { first: file, second: given }) =>
      backUp(file, given === '' ? databaseUrl : await targetOf(given, 'backup'), options),
    ),
  },
  restore: {
    takes: 'one',
    run: onData(({ restoreFrom }, options, databaseUrl, { first: file, noWebhooks }) =>
      restoreFrom(file, databaseUrl, options, { noWebhooks }),
    ),
  },
  version: {
    takes: 'no',
    async run() {
      terminal.out(await version())
      return 0
    },
  },
}

/** Number of arguments that each command takes. */
const counts = {
  no: { least: 0, most: 0 },
  one: { least: 1, most: 1 },
  'at most one': { least: 0, most: 1 },
  'one or two': { least: 1, most: 2 },
  'create NAME as': { least: 2, most: 2 },
}

const keyUsage = '"key" is followed by "create NAME". See greenroom --help.'

/**
 * Reads the address of a database from an argument, `-` for a line of standard input, or DATABASE_URL: the process list
 * shows the first, password and all.
 */
async function targetOf(given: string, command: 'move' | 'backup'): Promise<string> {
  process.title = `greenroom ${command}` // takes the argument's place in the list
  const url = given === '-' ? await terminal.ask('DATABASE_URL (it is shown while you type):') : given
  if (!url) throw new Error(`"${command}" takes an address, "-" for one on standard input, or DATABASE_URL.`)
  return checkedUrl(url.trim())
}

/** Checks an address by the rules of the setting. */
const checkedUrl = (url: string): string => readSettings({ DATABASE_URL: url }).databaseUrl ?? ''

async function hash(): Promise<number> {
  const password = await terminal.ask('Password (it is shown while you type):')
  if (!password) throw new Error('No password on standard input.')
  terminal.out(await hashPassword(password))
  return 0
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        scope: { type: 'string', multiple: true },
        'no-webhooks': { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        draft: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
  } catch (error) {
    // The first sentence says what is wrong; the others explain how positional arguments are escaped.
    const [first] = String(error instanceof Error ? error.message : error).split('. ')
    throw new Error(`${first}. See greenroom --help.`)
  }
}

/** Runs the command and returns its exit code. Null stands for `start`, which goes on until a signal ends it. */
async function main(): Promise<number | null> {
  const { values, positionals } = parse()
  if (values.port !== undefined) process.env.PORT = values.port
  if (values.data !== undefined) process.env.DATA_DIR = values.data
  const [name = 'start', ...given] = values.version ? ['version'] : positionals
  if (values.help || name === 'help') {
    terminal.out(help())
    return 0
  }
  const command = name === 'start' ? null : commands[name]
  if (command === undefined) throw new Error(`There is no command "${name}". See greenroom --help.`)
  const { least, most } = counts[command?.takes ?? 'no']
  if (given.length > most || given.length < least) {
    throw new Error(
      `"${name}" takes ${command?.takes ?? 'no'} ${most < 2 ? 'argument' : 'arguments'}. See greenroom --help.`,
    )
  }
  const { scope: scopes = ['deploy'], 'no-webhooks': noWebhooks = false } = values
  const { 'dry-run': isTried = false, draft = false } = values
  if (isTried && draft) throw new Error('--dry-run and --draft cannot be given together.')
  if (command) return await command.run(given, { scopes, noWebhooks, isTried, draft })
  await import('../main.ts')
  return null
}

const code = await main().catch((error: unknown) => {
  terminal.err(error instanceof Error ? error.message : String(error))
  return EXIT_USAGE
})
if (code !== null) process.exit(code)
