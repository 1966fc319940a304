/** The browser's way, as code to be copied: a backend's route that makes the secret, and a page that chats with it. */
import type { Snippet } from './snippets.ts'

interface Place {
  /** This server's, `http://host`. */
  origin: string
  agentId: string
  /** Below the origin. */
  deployPath: string
  /** Whether the server requires PUBLIC_API_KEY. */
  needsKey: boolean
}

/** `grammar`: the highlighter's name for the code's language. */
export type BrowserSnippet = Snippet & { grammar: string; language: string }

export const browserSnippets = (place: Place): BrowserSnippet[] => [
  {
    title: 'A route of your backend',
    words:
      'Put this behind your own login. It creates a secret for whoever is logged in, valid for ten minutes and only for that user’s sessions with this agent. Works as it is with Express and Fastify.',
    grammar: 'javascript',
    language: 'JavaScript',
    code: route(place),
  },
  {
    title: 'A page that chats',
    words:
      'It needs only that secret. The client renews it automatically, and a reply continues after a broken connection or a reload.',
    grammar: 'html',
    language: 'HTML',
    code: page(place),
  },
]

const route = ({ origin, deployPath, needsKey }: Place): string => {
  const headers = needsKey
    ? "{ authorization: 'Bearer ' + process.env.GREENROOM_API_KEY, 'content-type': 'application/json' }"
    : "{ 'content-type': 'application/json' }"
  return `app.post('/chat-secret', async (request, response) => {
  const body = JSON.stringify({ user: request.user.id }) // the logged-in user
  const headers = ${headers}
  const answer = await fetch('${origin}${deployPath}/client_secrets', { method: 'POST', headers, body })
  response.status(answer.status).send(answer.ok ? (await answer.json()).value : await answer.text())
})`
}

const page = ({ origin, agentId }: Place): string => `<!doctype html>
<meta charset="utf-8">
<title>Chat</title>
<pre></pre>
<form><input name="text" autofocus><button>Send</button> <button type="button">Stop</button></form>
<script type="module">
  // The files of packages/client/dist beside the page; with a bundler: '@greenroom/client'
  import { ApiError, createClient } from './client/index.js'

  const token = async () => {
    const answer = await fetch('/chat-secret', { method: 'POST' })
    if (!answer.ok) throw new ApiError(answer.status, await answer.text())
    return answer.text()
  }
  const agent = createClient({ baseUrl: '${origin}', token }).agent('${agentId}')
  const session = agent.session(localStorage.getItem('session'))

  const [log, form, stop] = document.querySelectorAll('pre, form, [type=button]')
  async function show(reply) {
    for await (const event of reply) {
      if (session.id) localStorage.setItem('session', session.id)
      if (event.type === 'text') log.append(event.text)
    }
    log.append('\\n')
  }
  form.onsubmit = (event) => {
    event.preventDefault()
    log.append('> ' + form.text.value + '\\n')
    show(session.send(form.text.value)).catch((error) => log.append(error.message + '\\n'))
    form.reset()
  }
  stop.onclick = () => session.cancel()
  if (session.id) show(session.resume()) // the newest reply, from its beginning
</script>`
