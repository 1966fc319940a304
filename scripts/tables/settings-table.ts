/** Writes the table of settings into docs/settings.md, between its two markers; `--check` fails if it differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { type Setting, table } from '../../src/settings.ts'

const markers = ['<!-- settings -->', '<!-- /settings -->'] as const

const shown = (value: string | null): string => (value === null ? 'unset' : value === '' ? 'empty' : `\`${value}\``)

/** Returns a Markdown table, one row for each setting. */
export function settingsTable(rows: readonly Setting<unknown>[]): string {
  const lines = rows.map(
    ({ name, default: defaultValue, meaning }) => `| \`${name}\` | ${shown(defaultValue)} | ${meaning} |`,
  )
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...lines].join('\n')
}

/** Returns the page with the table; null when a marker is missing. */
export function withTable(page: string, rows: readonly Setting<unknown>[]): string | null {
  const start = page.indexOf(markers[0])
  const end = page.indexOf(markers[1])
  if (start < 0 || end < start) return null
  return `${page.slice(0, start + markers[0].length)}\n\n${settingsTable(rows)}\n\n${page.slice(end)}`
}

function main(): number {
  const path = fileURLToPath(new URL('../../docs/settings.md', import.meta.url))
  const page = readFileSync(path, 'utf8')
  const wanted = withTable(page, Object.values(table))
  if (wanted === null) {
    console.error(`docs/settings.md lacks the markers ${markers.join(' and ')}, in this order.`)
    return 1
  }
  if (wanted === page) return 0
  if (argv.includes('--check')) {
    console.error('docs/settings.md: the table of settings differs from src/settings.ts; run "npm run generate".')
    return 1
  }
  writeFileSync(path, wanted)
  return 0
}

if (import.meta.main) exit(main())
