/** `greenroom --help`: the commands, and every setting from the table of settings. */
import { type Setting, table } from '../settings.ts'

const WIDTH = 100
const INDENT = ' '.repeat(6)

const commands = `Usage: greenroom [COMMAND] [--port PORT] [--data FOLDER]

  start               serve pages and API; the default
  import FILE         import a configuration (JSON or YAML) into the server at GREENROOM_URL; {"env": "NAME"} in
                      place of a key or a header stands for that variable; --dry-run prints what would change,
                      --draft changes only the drafts of its agents, for somebody to publish
  export [FILE]       write the configuration of that server; keys and secret headers as {"env": "NAME"}
  key create NAME     make a key of that server and print it; --scope deploy (the default), management or
                      management:read, several by repeating it
  hash-password       print the hash of a password, read from standard input, for AUTH_CREDENTIALS
  move [URL]          move the embedded database to a PostgreSQL of your own, which must be empty, at URL,
                      at the address on standard input (-), or at DATABASE_URL
  backup FILE [URL]   save the database at URL, at the address on standard input (-), or at DATABASE_URL; without
                      any of these the embedded one, also while the server runs
  restore FILE        load what backup has saved, into DATABASE_URL or an embedded database, which must be empty;
                      --no-webhooks leaves its webhooks switched off
  version             print the version

  --port PORT         the same as PORT
  --data FOLDER       the same as DATA_DIR

GREENROOM_URL is http://127.0.0.1:8080 by default; GREENROOM_LOGIN is username:password, or
GREENROOM_KEY a key with the scope management.

Settings are environment variables:
`

/** Wraps a text into lines of at most WIDTH characters. */
function wrapped(text: string): string[] {
  const lines: string[] = []
  let line = INDENT
  for (const word of text.split(' ')) {
    if (line !== INDENT && line.length + word.length > WIDTH) {
      lines.push(line.trimEnd())
      line = INDENT
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}

const settingLines = ({ name, default: defaultValue, meaning }: Setting<unknown>): string[] => [
  `  ${name}${defaultValue === null || defaultValue === '' ? '' : ` (${defaultValue})`}`,
  ...wrapped(meaning.replaceAll('npm run hash-password', 'greenroom hash-password').replaceAll('`', '')),
]

export const help = (): string => [commands, ...Object.values(table).flatMap(settingLines)].join('\n')
