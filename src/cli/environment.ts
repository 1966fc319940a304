/** Secrets in a configuration's file: `{"env": "NAME"}` stands for a variable of whoever imports it. */
import { parseNoted, writeExact } from '../untrusted/exact-json.ts'
import { parseExactYaml } from '../untrusted/exact-yaml.ts'
import { isObject } from '../untrusted/is-object.ts'

const HIDDEN = '***'

/** Returns the name of a variable for a secret: `OpenAI`, `apiKey` becomes OPENAI_API_KEY. */
const variableOf = (record: string, field: string): string =>
  `${record} ${field === 'apiKey' ? 'API key' : field}`
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, 'V_')

/** Applies `change` to each key of a provider and each header of a tool or an MCP server. */
function mapSecrets(file: unknown, change: (value: unknown, record: string, field: string) => unknown): unknown {
  if (!isObject(file)) return file
  const inRecords = (records: unknown, map: (record: Record<string, unknown>, name: string) => object) =>
    Array.isArray(records)
      ? records.map((record: unknown) => (isObject(record) ? map(record, String(record.name ?? '')) : record))
      : records
  const inHeaders = (records: unknown) =>
    inRecords(records, (record, name) => ({
      ...record,
      ...(isObject(record.headers) && {
        headers: Object.fromEntries(
          Object.entries(record.headers).map(([header, value]) => [header, change(value, name, header)]),
        ),
      }),
    }))
  return {
    ...file,
    ...('providers' in file && {
      providers: inRecords(file.providers, (record, name) => ({
        ...record,
        ...('apiKey' in record && { apiKey: change(record.apiKey, name, 'apiKey') }),
      })),
    }),
    ...('httpTools' in file && { httpTools: inHeaders(file.httpTools) }),
    ...('mcpServers' in file && { mcpServers: inHeaders(file.mcpServers) }),
  }
}

/** Returns the text of an export with a variable's name in place of each hidden value. */
export function withNames(text: string): string {
  const named = mapSecrets(parseNoted(text), (value, record, field) =>
    value === HIDDEN ? { env: variableOf(record, field) } : value,
  )
  return writeExact(named, 2)
}

/** Returns the text of a file with its variables filled in. Throws an error that names every variable that is not set. */
export function withEnvironment(
  text: string,
  isJson: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (!/\benv\b/.test(text)) return text
  const missing = new Set<string>()
  let isFilled = false
  const filled = mapSecrets(isJson ? parseNoted(text) : parseExactYaml(text), (value) => {
    if (!isObject(value) || typeof value.env !== 'string') return value
    isFilled = true
    const found = environment[value.env]
    if (found === undefined || found === '') missing.add(value.env)
    return found ?? ''
  })
  if (missing.size > 0)
    throw new Error(
      `Not set: ${[...missing].join(', ')}. Nothing was sent. "***" in place of {"env": …} keeps what is stored.`,
    )
  return isFilled ? writeExact(filled) : text
}
