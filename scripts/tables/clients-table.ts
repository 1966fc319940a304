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

/** Columns of a line, so that a terminal shows it as it is. */
const WIDTH = 118

/** Breaks an item of a list into lines. */
function wrapped(mark: string, text: string): string {
  const lines: string[] = []
  let line = mark
  for (const word of text.split(' ')) {
    if (line.length + word.length >= WIDTH && line.trim() !== mark.trim()) {
      lines.push(line.trimEnd())
      line = ' '.repeat(mark.length)
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()].join('\n')
}

/** Returns a client's name without the packages that its version is of. */
const nameOf = ({ client }: Recorded): string => client.split(' (@')[0] ?? client

/** Names clients, with their versions where those of one name differ in what they do; most of them by the others. */
function named(some: readonly Recorded[], all: readonly Recorded[]): string {
  const others = all.filter((client) => !some.includes(client))
  if (others.length < 3 && others.length < some.length) return `all but ${named(others, all)}`
  const names = some.map((client) => {
    const isWhole = !others.some((other) => nameOf(other) === nameOf(client))
    return isWhole ? nameOf(client) : `${nameOf(client)} ${client.version}`
  })
  return [...new Set(names)].join(', ')
}

/** The outcome of a row for a client; undefined where it has none. */
type Outcome = (client: Recorded, row: string) => string | undefined

/** Returns a list of the rows that any client has, each with its outcomes and who has them. */
function listOf(clients: readonly Recorded[], titles: Record<string, string>, outcomeOf: Outcome): string {
  const items = Object.entries(titles).flatMap(([row, title]) => {
    const outcomes = Map.groupBy(clients, (client) => outcomeOf(client, row))
    outcomes.delete(undefined)
    const [only, ...others] = [...outcomes]
    if (only === undefined) return []
    const [outcome, some] = only
    if (others.length === 0)
      return [
        wrapped('- ', `**${title}**: ${outcome}${some.length === clients.length ? '' : ` (${named(some, clients)})`}`),
      ]
    const lines = [...outcomes].map(([one, those]) => wrapped('  - ', `${one} (${named(those, clients)})`))
    return [`${wrapped('- ', `**${title}**`)}\n${lines.join('\n')}`]
  })
  return items.join('\n')
}

const of =
  (kind: string): Outcome =>
  ({ cells }, row) => {
    const cell = cells[kind]?.[row]
    return cell === '–' ? undefined : cell
  }

/** Returns the names and versions that were tested, as a paragraph. */
function tested(clients: readonly Recorded[]): string {
  const all = clients.map(({ client, version }) => `${client} ${version}`.trim())
  return wrapped('', `Tested: ${all.join(', ')}.`)
}

function page(): string {
  const clients = completionClients.map(recorded)
  const isSame = (row: string) => clients.every((one) => of('stateless')(one, row) === of('session')(one, row))
  const those = (isKept: (row: string) => boolean) =>
    Object.fromEntries(Object.entries(rows).filter(([row]) => isKept(row)))
  const [sameRows, ownRows] = [those(isSame), those((row) => !isSame(row))]
  const [responses, contents, streams, pages] = [
    responsesClients.map((name) => recorded(`responses-${name}`)),
    contentClients.map((name) => recorded(`contents-${name}`)),
    streamClients.map(recorded),
    pageClients.map(recorded),
  ] as const
  const retrying = clients
    .filter(({ cells }) => cells.session?.failed?.endsWith('retries'))
    .map(({ client, version }) => `${client} ${version}`)
  return `<!-- Written by "npm run clients" from the recorded results of test/clients. Do not edit. -->

# Clients

Ordinary clients of the chat-completions format only need another base URL. Each line below is the result of a test with the
versions that are named against this server. A client that a line leaves out has no such feature, or was not tested. The base
URL decides where the conversation is stored:

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

## Completions

${tested(clients)}

The same in sessions and without:

${listOf(clients, sameRows, of('session'))}

### Stateless

${listOf(clients, ownRows, of('stateless'))}

### Sessions

${listOf(clients, ownRows, of('session'))}

A 429 of these endpoints is a limit of the key or the user ([keys.md](operating/keys.md)); one of the model's provider is a failed
generation. What is said of Python is from the last run on a machine where pip could install that client (\`pip install
openai\`); a run without it leaves that unchanged.

## The Responses API

These clients use \`/responses\` by default; the base URL is that of stateless completions, and the server stores
the conversation ([responses.md](responses.md)).

${tested(responses)}

${listOf(responses, responsesRows, of('responses'))}

## Pictures, files and schemas

The code that users of each client write. In a test, every one reached three kinds of provider in their own formats: one of
the chat-completions format, Anthropic and Gemini. A picture by URL is fetched by the server, once.

${tested(contents)}

${listOf(contents, contentRows, of('contents'))}

## Following a reply

\`GET …/sessions/<session id>/chat/completions/stream\`. Close an EventSource at the frame \`[DONE]\`. The server
sends CORS headers to the origins that the agent lists (\`allowedOrigins\`, [from-a-browser.md](front-ends/from-a-browser.md)). The key
must not reach browsers.

${tested(streams)}

${listOf(streams, resumeRows, of('session'))}

## Clients for pages

These clients use formats of their own, at \`…/deploy/ai-sdk\` and \`…/deploy/ag-ui\` ([ui.md](front-ends/ui.md)). \`deep-chat\` uses
chat completions: every reader of a page can read its key, so give the page a client secret. CopilotKit's page calls its
runtime, which runs on a server of yours and calls the agent.

${tested(pages)}

${listOf(pages, uiRows, of('page'))}
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
