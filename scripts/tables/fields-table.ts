/**
 * Writes docs/fields.md from the table by which fields are passed or refused (src/providers/answer-fields.ts); `--check`
 * fails if the page differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { AS_SENT, type Field, fieldNames, limits, takenFields } from '../../src/providers/answer-fields.ts'
import { takenParts } from '../../src/providers/parts.ts'
import { providerTypes } from '../../src/providers/provider-types.ts'

const path = fileURLToPath(new URL('../../docs/fields.md', import.meta.url))

const fields = Object.keys(fieldNames) as Field[] // the keys of a literal are its type's

const heads: Record<Field, string> = { ...fieldNames, maxTokens: '`max_tokens`, `max_completion_tokens`' }

function cell(type: keyof typeof takenFields, field: Field): string {
  const name = takenFields[type][field]
  if (name === null) return '400'
  const words = limits[type]?.[field]?.map((limit) => limit.words).join('; ')
  const sent = name === AS_SENT ? AS_SENT : `\`${name}\``
  return words === undefined ? sent : `${sent} (${words})`
}

function table(): string {
  const titles = fields.map((field) => (heads[field].startsWith('`') ? heads[field] : `\`${heads[field]}\``))
  const lines = [...providerTypes.map(({ id }) => id), 'responses' as const].map((id) => {
    const head = id === 'responses' ? '`wireApi: responses`' : `\`${id}\``
    return `| ${head} | ${fields.map((field) => cell(id, field)).join(' | ')} |`
  })
  return [`| Provider type | ${titles.join(' | ')} |`, `|---|${fields.map(() => '---|').join('')}`, ...lines].join('\n')
}

function partsTable(): string {
  const lines = providerTypes.map(({ id }) => {
    const { pictures, pdf, text } = takenParts[id]
    const kinds = pictures.map((type) => type.slice('image/'.length)).join(', ')
    return `| \`${id}\` | ${kinds || '400'} | ${pdf ? 'sent' : '400'} | ${text === 'file' ? 'sent' : 'sent as text'} |`
  })
  return ['| Provider type | Pictures | PDF | Text, Markdown, CSV |', '|---|---|---|---|', ...lines].join('\n')
}

const page = (): string => `<!-- Written by "npm run generate" from src/providers/answer-fields.ts. Do not edit. -->

# Fields that change the answer

Some fields of a completion request change its answer. Such a field is sent to the agent's provider under the name in the
table, or refused with 400 naming field and provider. No field is ignored silently.

${table()}

- The values that a provider accepts are in parentheses; others are 400. A value that only the provider can check comes back
  as its own error.
- \`max_completion_tokens\` takes precedence over \`max_tokens\`. \`stop\` is one to four texts. \`response_format\` is \`text\`,
  \`json_object\` or \`json_schema\`; \`text\` works with every model. An agent's \`responseFormat\` is the default.
- \`parallel_tool_calls\` is sent only with requests that offer tools.
- \`n\` above 1, \`logprobs\`, \`audio\`, \`modalities\` beyond \`text\`, \`prediction\` and \`functions\` are 400 with every provider.
- Null, \`false\`, \`n: 1\` and empty arrays count as absent, except \`parallel_tool_calls: false\`.
- Where the answer must be JSON (\`response_format\` other than \`text\`) and the model speaks before it calls tools, \`content\` is the last
  turn's text alone. Earlier turns' text is shown as reasoning, where reasoning is shown. The text of a turn to which tools are
  offered is sent when the turn has ended. On the Responses API each turn is a message item of its own.
- \`temperature\`, \`top_p\` and similar fields are settings of the agent. These, \`store\`, \`user\`, \`metadata\` and unknown fields
  are accepted and not used: the header \`x-greenroom-ignored\` of the response names them.

## Pictures and files

A user's message may be an array of parts: texts, \`image_url\` (\`{url, detail?}\`: a \`data:\` URL of PNG, JPEG, WebP or GIF, or
an \`https:\` address) and \`file\` (\`{file_data, filename?}\`: a \`data:\` URL of PDF, Word, Excel, plain text, Markdown or CSV; or
\`{file_id}\` of an [uploaded file](files.md)). The AI SDK's
\`file\` parts and the playground's messages accept the same contents.

\`\`\`sh
PICTURE=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==
curl -s http://127.0.0.1:8080/api/v1/agents/00000000-0000-4000-8000-000000000001/deploy/chat/completions \\
  -H 'content-type: application/json' -d '{"messages": [{"role": "user", "content": [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,'$PICTURE'"}}]}]}'
\`\`\`

${partsTable()}

- 400, naming the agent: its provider's API does not accept such a part. If a model of that provider cannot read it, the
  provider returns its own error. Fallbacks that do not accept the request's parts are skipped. Parts of earlier messages that a
  provider does not accept are replaced with a note.
- Up to 20 parts, texts included, and 20 MiB of decoded bytes a message (413). \`MAX_BODY_BYTES\` applies to the rest of the
  body. Bodies with their pictures and files take at most 384 MiB in each process, and those of one user, key or address an
  eighth of it; beyond that 503 with \`Retry-After\`.
- Bytes are checked against their type. Paths, control characters and characters that change the direction of writing are
  removed from names.
- A picture at an address is fetched once, when the message is admitted: \`https\` on every hop, five redirects, public addresses
  only (\`OUTBOUND_ALLOW\`), 10 s for all pictures of a request. A retry, or a message to a busy session, gets its response without a fetch.
- In sessions bytes are stored once for each content and deleted with the last message that has them. Messages carry
  \`parts: [{type, url, media_type, filename, size}]\`; every reader of the message may read the bytes at \`url\`.
  That \`url\` is also accepted in place of a part's bytes, unchanged: an edited message sends its pictures again by it.
- Later turns send the parts of earlier ones again, the newest first, within 20 MiB; a note replaces the others.

## Fallbacks

An agent may have up to three \`fallbacks\`, each a provider and a model. When a call fails before the model's first output,
the next one is called: after the retries (\`PROVIDER_RETRIES\`) for 408, 429, 5xx and broken connections; at once for a 429 that
demands a wait of more than 10 s, for silence, and for a refused key. A fallback that does not accept the request's fields is
skipped. Each model call of a reply begins with the agent's own model. Chunks name the model of their own turn; the first one,
with the role, names the agent's. When all fail, the error is the last one's.

During a rolling upgrade from a version without them, add fallbacks once every instance runs this one: an older one cannot
stream such a reply to its readers.
`

function main(): number {
  const wanted = page()
  if (!argv.includes('--check')) writeFileSync(path, wanted)
  else if (readFileSync(path, 'utf8') !== wanted) {
    console.error('docs/fields.md differs from src/providers/answer-fields.ts: run "npm run generate".')
    return 1
  }
  return 0
}

if (import.meta.main) exit(main())
