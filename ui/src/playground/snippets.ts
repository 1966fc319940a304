/** The request at hand as code that calls the deploy API, with this server's address. Pure. */

export interface SnippetInput {
  /** `https://chat.example` */
  origin: string
  agentId: string
  /** Null: the code makes a session first. */
  sessionId: string | null
  message: string
}

export interface Snippet {
  name: string
  code: string
}

export const snippets = (input: SnippetInput): Snippet[] => [
  { name: 'curl', code: curl(input) },
  { name: 'JavaScript', code: javascript(input) },
  { name: 'Python', code: python(input) },
]

const sessionsUrl = ({ origin, agentId }: SnippetInput) => `${origin}/api/v1/agents/${agentId}/deploy/sessions`

/** In single quotes for a POSIX shell. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function curl(input: SnippetInput): string {
  const body = JSON.stringify({ messages: [{ role: 'user', content: input.message }], stream: true })
  const key = `-H "Authorization: Bearer $GREENROOM_API_KEY"`
  const make =
    input.sessionId === null ? `SESSION=$(curl -s -X POST ${sessionsUrl(input)} \\\n  ${key} | jq -r .id)\n\n` : ''
  return `${make}curl -N ${sessionsUrl(input)}/${input.sessionId ?? '$SESSION'}/chat/completions \\
  ${key} \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(body)}`
}

function javascript(input: SnippetInput): string {
  const url = sessionsUrl(input)
  const make =
    input.sessionId === null
      ? `const made = await fetch('${url}', {
  method: 'POST',
  headers: { Authorization: \`Bearer \${apiKey}\` },
})
const { id } = await made.json()

`
      : ''
  const base = input.sessionId === null ? `\`${url}/\${id}\`` : `'${url}/${input.sessionId}'`
  return `import OpenAI from 'openai'

const apiKey = process.env.GREENROOM_API_KEY ?? 'none'
${make}const client = new OpenAI({
  apiKey,
  baseURL: ${base},
})
const stream = await client.chat.completions.create({
  model: 'agent',
  messages: [{ role: 'user', content: ${JSON.stringify(input.message)} }],
  stream: true,
})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}`
}

function python(input: SnippetInput): string {
  const url = sessionsUrl(input)
  const make =
    input.sessionId === null
      ? `request = urllib.request.Request("${url}", method="POST", headers={"Authorization": f"Bearer {api_key}"})
session_id = json.load(urllib.request.urlopen(request))["id"]
`
      : ''
  const base = input.sessionId === null ? `f"${url}/{session_id}"` : `"${url}/${input.sessionId}"`
  return `${input.sessionId === null ? 'import json\nimport os\nimport urllib.request\n' : 'import os\n'}
from openai import OpenAI

api_key = os.environ.get("GREENROOM_API_KEY", "none")
${make}client = OpenAI(
    api_key=api_key,
    base_url=${base},
)
stream = client.chat.completions.create(
    model="agent",
    messages=[{"role": "user", "content": ${JSON.stringify(input.message)}}],
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)`
}
