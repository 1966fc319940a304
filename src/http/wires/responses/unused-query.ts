/** Parameters of OpenAI's that have no meaning here (contract section 32). Lists refuse them (section 25). */
import { nameIgnored } from '../../sending/answer-fields.ts'
import type { Exchange } from './exchange.ts'

const unused = ['include', 'include_obfuscation']

/** Names in the answer which of them were sent. */
export function nameUnusedQuery({ query }: Pick<Exchange['request'], 'query'>, reply: Exchange['reply']): void {
  const sent = Object.keys(query ?? {}).map((name) => name.replace(/\[.*$/, ''))
  nameIgnored(
    reply,
    Object.fromEntries(sent.filter((name) => unused.includes(name)).map((name) => [name, true])),
    new Set(),
  )
}
