/** Code that calls an agent, to be copied: it runs as it is. */

/** `grammar`: the highlighter's name for it. */
export const languages = [
  { value: 'curl', label: 'curl', grammar: 'bash' },
  { value: 'javascript', label: 'JavaScript', grammar: 'javascript' },
  { value: 'python', label: 'Python', grammar: 'python' },
] as const
export type Language = (typeof languages)[number]['value']
export type Mode = 'stateless' | 'session'

export interface Snippet {
  title: string
  words: string
  code: string
}

interface Place {
  /** The agent's address, `http://host/api/v1/agents/<id>/deploy`. */
  base: string
  model: string
  /** Whether the server requires PUBLIC_API_KEY. */
  needsKey: boolean
  message?: string
  /** An existing session; without one the code reads SESSION. */
  sessionId?: string
}

/** Returns the calls, in the order in which a program makes them. */
export function snippets(place: Place, mode: Mode, language: Language): Snippet[] {
  const write = { curl, javascript, python }[language](place)
  if (mode === 'stateless') {
    return [
      {
        title: 'Send a message',
        words: 'You send the whole conversation each time; nothing is stored. Closing the connection stops the reply.',
        code: write.ask,
      },
    ]
  }
  return [
    {
      title: 'Create a session',
      words: 'Greenroom keeps the conversation. Store the id with your user.',
      code: write.create,
    },
    {
      title: 'Send a message',
      words: 'Only the new message. The reply continues when you disconnect, and is stored before you see it.',
      code: write.message,
    },
    {
      title: 'Resume',
      words:
        'Follow the newest reply from any frame, while it runs or long after, in this program or another. Frames are numbered; 0 is the beginning of the reply.',
      code: write.resume,
    },
    { title: 'Cancel', words: 'From anywhere. The text so far is kept.', code: write.cancel },
  ]
}

interface Written {
  ask: string
  create: string
  message: string
  resume: string
  cancel: string
}

/** Quotes a text for a POSIX shell. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function curl({ base, needsKey, message = 'Hello!', sessionId }: Place): Written {
  const agent = `AGENT=${base}\n\n`
  const key = needsKey ? ' \\\n  -H "Authorization: Bearer $GREENROOM_API_KEY"' : ''
  const json = " \\\n  -H 'Content-Type: application/json'"
  const request = `{"stream": true, "messages": [{"role": "user", "content": ${JSON.stringify(message)}}]}`
  const body = ` \\\n  -d ${shellQuoted(request)}`
  const session = `"${sessionId === undefined ? '$AGENT/sessions/$SESSION' : `${base}/sessions/${sessionId}`}/chat/completions`
  return {
    ask: `${agent}curl -N "$AGENT/chat/completions"${key}${json}${body}`,
    create: `${agent}curl -X POST "$AGENT/sessions"${key}${json} \\\n  -d '{}'\n\nSESSION=… # the "id" of the response`,
    message: `curl -N ${session}"${key}${json}${body}`,
    resume: `curl -N ${session}/stream"${key} \\\n  -H 'Last-Event-ID: 0'`,
    cancel: `curl -X POST ${session}/cancel"${key}`,
  }
}

function javascript({ base, model, needsKey, message = 'Hello!', sessionId }: Place): Written {
  const apiKey = needsKey ? 'process.env.GREENROOM_API_KEY' : "'none' /* this server asks for no key */"
  const headers = needsKey
    ? "const headers = { authorization: 'Bearer ' + process.env.GREENROOM_API_KEY }"
    : 'const headers = {}'
  const talk = (url: string) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${url},
  apiKey: ${apiKey},
})

const stream = await client.chat.completions.create({
  model: ${JSON.stringify(model)}, // the agent's own model is used, whatever is named here
  messages: [{ role: 'user', content: ${JSON.stringify(message)} }],
  stream: true,
})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
}`
  const start = `const base = '${base}'\n${headers}\n`
  return {
    ask: talk(`'${base}'`),
    create: `${start}
const answer = await fetch(\`\${base}/sessions\`, {
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json' },
  body: '{}',
})
const { id: sessionId } = await answer.json()
console.log(sessionId)`,
    message: talk(
      sessionId === undefined ? `\`${base}/sessions/\${process.env.SESSION}\`` : `'${base}/sessions/${sessionId}'`,
    ),
    resume: `${start}
let lastId = 0 // the number of the last frame that you have
const answer = await fetch(\`\${base}/sessions/\${process.env.SESSION}/chat/completions/stream\`, {
  headers: { ...headers, 'last-event-id': String(lastId) },
})
let rest = ''
let id = lastId
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    if (line.startsWith('id: ')) id = Number(line.slice(4))
    if (!line.startsWith('data: {')) continue
    const { choices, error } = JSON.parse(line.slice(6))
    if (error) throw new Error(error.message)
    process.stdout.write(choices[0]?.delta?.content ?? '')
    lastId = id
  }
}`,
    cancel: `${start}
await fetch(\`\${base}/sessions/\${process.env.SESSION}/chat/completions/cancel\`, { method: 'POST', headers })`,
  }
}

function python({ base, model, needsKey, message = 'Hello!', sessionId }: Place): Written {
  const apiKey = needsKey ? 'os.environ["GREENROOM_API_KEY"]' : '"none",  # this server asks for no key'
  const headers = needsKey ? `headers = {"Authorization": f"Bearer {os.environ['GREENROOM_API_KEY']}"}` : 'headers = {}'
  const talk = (url: string) => `${needsKey || url.includes('os.') ? 'import os\n\n' : ''}from openai import OpenAI

client = OpenAI(
    base_url=${url},
    api_key=${apiKey}${needsKey ? ',' : ''}
)

stream = client.chat.completions.create(
    model=${JSON.stringify(model)},  # the agent's own model is used, whatever is named here
    messages=[{"role": "user", "content": ${JSON.stringify(message)}}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
  const start = (imports: string) => `import ${imports}\n\nbase = "${base}"\n${headers}\n`
  return {
    ask: talk(`"${base}"`),
    create: `${start('os\nimport httpx')}
session_id = httpx.post(f"{base}/sessions", headers=headers, json={}).json()["id"]
print(session_id)`,
    message: talk(
      sessionId === undefined ? `f"${base}/sessions/{os.environ['SESSION']}"` : `"${base}/sessions/${sessionId}"`,
    ),
    resume: `${start('json\nimport os\nimport httpx')}
last_id = 0  # the number of the last frame that you have
url = f"{base}/sessions/{os.environ['SESSION']}/chat/completions/stream"
with httpx.stream("GET", url, headers={**headers, "Last-Event-ID": str(last_id)}, timeout=None) as answer:
    frame_id = last_id
    for line in answer.iter_lines():
        if line.startswith("id: "):
            frame_id = int(line[4:])
        if line.startswith("data: {"):
            frame = json.loads(line[6:])
            if "error" in frame:
                raise RuntimeError(frame["error"]["message"])
            for choice in frame["choices"]:
                print(choice["delta"].get("content") or "", end="", flush=True)
            last_id = frame_id`,
    cancel: `${start('os\nimport httpx')}
httpx.post(f"{base}/sessions/{os.environ['SESSION']}/chat/completions/cancel", headers=headers)`,
  }
}
