/** No library: fetch to send, EventSource to follow. It comes back by itself, from the last frame that it has seen. */
import { deploy, element } from '../page.ts'

interface Message {
  role: 'user' | 'assistant'
  content: string
  status: 'complete' | 'streaming' | 'error'
}

/** Returns the session. The server chooses its id; the address stores it. */
async function session(): Promise<string> {
  if (location.hash === '') {
    const made = await (await fetch(`${deploy}/sessions`, { method: 'POST' })).json()
    history.replaceState(null, '', `#${made.id}`)
  }
  return `${deploy}/sessions/${location.hash.slice(1)}`
}

function add({ role, content }: Pick<Message, 'role' | 'content'>): HTMLElement {
  const article = document.createElement('article')
  article.dataset.role = role
  article.textContent = content
  element('messages').append(article)
  return article
}

/** Shows the newest reply in `article` as it comes, from its beginning. */
async function follow(article: HTMLElement): Promise<void> {
  article.textContent = ''
  element('status').textContent = 'running'
  const source = new EventSource(`${await session()}/chat/completions/stream`)
  const end = (words: string) => {
    source.close()
    element('status').textContent = words
  }
  source.onmessage = ({ data }) => {
    if (data === '[DONE]') return end('ready')
    const { choices, error } = JSON.parse(data)
    if (error) return end(`${error.code}: ${error.message}`)
    article.textContent += choices[0]?.delta.content ?? ''
  }
}

async function send(content: string): Promise<void> {
  add({ role: 'user', content })
  const response = await fetch(`${await session()}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ messages: [{ role: 'user', content }], stream: true }),
  })
  // The reply goes on without this connection; the EventSource shows it.
  void response.body?.cancel()
  if (response.ok) return follow(add({ role: 'assistant', content: '' }))
  element('status').textContent = (await response.json()).error
}

element('form').addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target as HTMLFormElement
  void send(`${new FormData(form).get('message')}`)
  form.reset()
})

if (location.hash !== '') {
  const { messages }: { messages: Message[] } = await (await fetch(`${await session()}/messages`)).json()
  const shown = messages.map(add)
  const last = shown.at(-1)
  if (last && messages.at(-1)?.status === 'streaming') void follow(last)
}
