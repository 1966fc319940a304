/**
 * Writes the table of settings into README.md, between its two markers; `--check` fails if it differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { type Setting, table } from '../src/settings.ts'

const markers = ['<!-- settings -->', '<!-- /settings -->'] as const

const shown = (value: string | null): string => (value === null ? 'unset' : value === '' ? 'empty' : `\`${value}\``)

/** Markdown, one row for each setting. */
export function settingsTable(rows: readonly Setting<unknown>[]): string {
  const lines = rows.map(
    ({ name, default: defaultValue, meaning }) => `| \`${name}\` | ${shown(defaultValue)} | ${meaning} |`,
  )
  return ['| Setting | Default | Meaning |', '|---|---|---|', ...lines].join('\n')
}

/** Null: a marker is missing. */
export function withTable(readme: string, rows: readonly Setting<unknown>[]): string | null {
  const start = readme.indexOf(markers[0])
  const end = readme.indexOf(markers[1])
  if (start < 0 || end < start) return null
  return `${readme.slice(0, start + markers[0].length)}\n\n${settingsTable(rows)}\n\n${readme.slice(end)}`
}

function main(): number {
  const path = fileURLToPath(new URL('../README.md', import.meta.url))
  let readme: string
  try {
    readme = readFileSync(path, 'utf8')
  } catch {
    console.error('README.md is missing: it holds the table of settings.')
    return 1
  }
  const wanted = withTable(readme, Object.values(table))
  if (wanted === null) {
    console.error(`README.md lacks the markers ${markers.join(' and ')}, in this order.`)
    return 1
  }
  if (wanted === readme) return 0
  if (argv.includes('--check')) {
    console.error('README.md: the table of settings differs from src/settings.ts; run "npm run generate".')
    return 1
  }
  writeFileSync(path, wanted)
  return 0
}

if (import.meta.main) exit(main())
