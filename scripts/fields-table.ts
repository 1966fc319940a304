/**
 * Writes docs/fields.md from the table by which fields are passed or refused (src/providers/answer-fields.ts); `--check`
 * fails if the page differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { AS_SENT, type Field, fieldNames, limits, takenFields } from '../src/providers/answer-fields.ts'
import { providerTypes } from '../src/providers/provider-types.ts'

const path = fileURLToPath(new URL('../docs/fields.md', import.meta.url))

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
  const lines = providerTypes.map(({ id }) => `| \`${id}\` | ${fields.map((field) => cell(id, field)).join(' | ')} |`)
  return [`| Provider type | ${titles.join(' | ')} |`, `|---|${fields.map(() => '---|').join('')}`, ...lines].join('\n')
}

const page = (): string => `<!-- Written by "npm run generate" from src/providers/answer-fields.ts. Do not edit. -->

# Fields that change the answer

A completion request may say how it wants its answer. Such a field is sent on to the agent's provider under the name in the
table, or refused with 400 naming field and provider. Nothing is ignored in silence.

${table()}

- In parentheses: what that provider takes; anything else is 400. A value that only the provider can judge comes back as its
  own error.
- \`max_completion_tokens\` wins over \`max_tokens\`. \`stop\` is a text or up to four. \`response_format\` is \`text\`,
  \`json_object\` or \`json_schema\`; \`text\` is what every model gives. An agent's \`responseFormat\` is the default.
- \`parallel_tool_calls\` is sent with calls that offer tools.
- \`n\` above 1, \`logprobs\`, \`audio\`, \`modalities\` beyond \`text\`, \`prediction\` and \`functions\` are 400 with every provider.
- Null, \`false\`, \`n: 1\` and empty arrays count as absent, except \`parallel_tool_calls: false\`.
- \`temperature\`, \`top_p\` and the like are the agent's. These, \`store\`, \`user\`, \`metadata\` and unknown fields are accepted and
  not used: the header \`x-greenroom-ignored\` of the answer names them.

## Fallbacks

An agent may have up to three \`fallbacks\`, each a provider and a model. When a call fails before the model has said anything,
the next one is asked: after its retries (\`PROVIDER_RETRIES\`) for 408, 429, 5xx and broken connections; at once for a 429 that
asks for more than 10 s, for silence, and for a refused key. A fallback that does not take the request's fields is passed
over. Each model call of a reply begins with the agent's own model. Chunks name the model of their own turn; the first one,
with the role, names the agent's. When all fail, the error is the last one's.

During a rolling upgrade from a version without them, add fallbacks once every instance runs this one: an older one cannot
stream such a reply to those who read along.
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
