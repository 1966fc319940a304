/**
 * Writes docs/clients.md from the recorded test results of each client (test/clients/recorded); `--check` fails if the
 * page differs. The tests themselves fail if a client behaves differently than recorded: `npm run clients`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { contentRows, type Recorded, responsesRows, resumeRows, rows, uiRows } from '../../test/clients/rows.ts'

const path = fileURLToPath(new URL('../../docs/clients.md', import.meta.url))
const completionClients = [
  ...['openai-7', 'openai-6', 'openai-5', 'openai-python', 'ai-sdk', 'langchain', 'llamaindex'],
  'agents-sdk',
]
const streamClients = ['eventsource', 'browser', 'curl']
const contentClients = [
  'openai',
  'ai-ai-sdk-openai-compatible',
  'langchain-openai',
  'openai-agents',
  'greenroom-client',
]
const responsesClients = ['openai', 'openai-agents', 'ai-ai-sdk-openai', 'langchain-openai']
const pageClients = [
  'use-chat-quick-start',
  'use-chat-runtime',
  'use-chat',
  'use-chat-6',
  'assistant-ui',
  'ag-ui',
  'deep-chat',
  'copilotkit',
]

const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(new URL(`../../test/clients/recorded/${name}.json`, import.meta.url), 'utf8'))

/**
 * Returns a table with one column for each client; rows that no client has are omitted. Clients that behave the same
 * share a column.
 */
function tableOf(clients: readonly Recorded[], kind: string, titles: Record<string, string>): string {
  const columns = new Map<string, Recorded[]>()
  for (const client of clients) {
    const like = JSON.stringify(client.cells[kind])
    columns.set(like, [...(columns.get(like) ?? []), client])
  }
  const heads = [...columns.values()].map((alike) =>
    alike.map(({ client, version }) => `${client} ${version}`.trim()).join(', '),
  )
  const present = Object.entries(titles).filter(([id]) => clients.some(({ cells }) => cells[kind]?.[id] !== undefined))
  const lines = present.map(([id, title]) => {
    const cells = [...columns.values()].map(([client]) => client?.cells[kind]?.[id] ?? '–')
    return `| ${title} | ${cells.join(' | ')} |`
  })
  return [`| | ${heads.join(' | ')} |`, `|---|${heads.map(() => '---|').join('')}`, ...lines].join('\n')
}

function page(): string {
  const clients = completionClients.map(recorded)
  const retrying = clients
    .filter(({ cells }) => cells.session?.failed?.endsWith('asks again'))
    .map(({ client, version }) => `${client} ${version}`)
  return `<!-- Written by "npm run clients" from the recorded results of test/clients. Do not edit. -->

# Clients

Ordinary clients of the chat-completions format only need another base URL. Each cell below is the result of a test with that
exact version against this server; a dash means that the client has no such feature, or that it was not tested. The base URL
decides where the conversation is stored:

| | Base URL |
|---|---|
| Stateless | \`http://127.0.0.1:8080/api/v1/agents/<agent id>/deploy\` |
| Session | \`http://127.0.0.1:8080/api/v1/agents/<agent id>/deploy/sessions/<session id>\` |

The API key is \`PUBLIC_API_KEY\`, a named key ([keys.md](operating/keys.md)) or a client secret ([users.md](front-ends/users.md)); where
\`PUBLIC_API_KEY\` is not set, any other text works too. The agent's model is used, whatever model the request names;
[fields.md](fields.md) lists the other fields of a request that have an effect.

## Retries in sessions

A client that retries automatically repeats a message. The official clients mark a retry (\`x-stainless-retry-count\`), and it
joins the running reply. Other clients need an **\`Idempotency-Key\` header, one for each message**: with it every client
below joins the reply of its first request. Without it a retry gets 409 while that reply runs, and is a new message after it.

Not all clients respect \`x-should-retry: false\`. These retry after a failed generation, which calls the model again:
${retrying.join(', ')}. The server has already retried (\`PROVIDER_RETRIES\`), so set \`maxRetries: 0\` for them, unless
you rely on their retries after a 503.

## Stateless

${tableOf(clients, 'stateless', rows)}

## Sessions

${tableOf(clients, 'session', rows)}

A 429 of these endpoints is a limit of the key or the user ([keys.md](operating/keys.md)); one of the model's provider is a failed
generation. The Python column is from the last run on a machine where pip could install that client (\`pip install openai\`); a
run without it leaves the column unchanged.

## The Responses API

These clients use \`/responses\` by default; the base URL is that of stateless completions, and the server stores
the conversation ([responses.md](responses.md)).

${tableOf(
  responsesClients.map((name) => recorded(`responses-${name}`)),
  'responses',
  responsesRows,
)}

## Pictures, files and schemas

The code that users of each client write. In a test, every cell reached three kinds of provider in their own formats: one of
the chat-completions format, Anthropic and Gemini. A picture by URL is fetched by the server, once.

${tableOf(
  contentClients.map((name) => recorded(`contents-${name}`)),
  'contents',
  contentRows,
)}

## Following a reply

\`GET …/sessions/<session id>/chat/completions/stream\`. Close an EventSource at the frame \`[DONE]\`. The server
sends CORS headers to the origins that the agent lists (\`allowedOrigins\`, [from-a-browser.md](front-ends/from-a-browser.md)). The key
must not reach browsers.

${tableOf(streamClients.map(recorded), 'session', resumeRows)}

## Clients for pages

These clients use formats of their own, at \`…/deploy/ai-sdk\` and \`…/deploy/ag-ui\` ([ui.md](front-ends/ui.md)). \`deep-chat\` uses
chat completions: every reader of a page can read its key, so give the page a client secret. CopilotKit's page calls its
runtime, which runs on a server of yours and calls the agent.

${tableOf(pageClients.map(recorded), 'page', uiRows)}
`
}

function main(): number {
  const wanted = page()
  if (!argv.includes('--check')) writeFileSync(path, wanted)
  else if (readFileSync(path, 'utf8') !== wanted) {
    console.error('docs/clients.md differs from the recorded results (test/clients/recorded): run "npm run generate".')
    return 1
  }
  return 0
}

if (import.meta.main) exit(main())
