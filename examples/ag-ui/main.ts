/** AG-UI's HttpAgent on a Greenroom session: a run that was cut off, or reloaded, is sent again and begins anew. */
import { HttpAgent, type Message } from '@ag-ui/client'
import { chatId, deploy, element } from '../page.ts'

interface Kept {
  /** Up to the newest user message while a run is open. */
  messages: Message[]
  /** The run that is open. */
  runId: string | null
}

const threadId = chatId()
const agent = new HttpAgent({ url: `${deploy}/ag-ui`, threadId })

const kept = (): Kept => JSON.parse(localStorage.getItem(threadId) ?? '{"messages":[],"runId":null}')
const keep = (state: Kept) => localStorage.setItem(threadId, JSON.stringify(state))

function show(): void {
  const articles = agent.messages.map((message) => {
    const article = document.createElement('article')
    article.dataset.role = message.role
    article.textContent = typeof message.content === 'string' ? message.content : ''
    return article
  })
  element('messages').replaceChildren(...articles)
}

agent.subscribe({ onMessagesChanged: show })

const say = (words: string) => {
  element('status').textContent = words
}

/** Sends the open run until it has an end: the server joins it to the reply that it started the first time. */
async function run(): Promise<void> {
  const { messages, runId } = kept()
  if (runId === null) return
  let end: string | null = null
  while (end === null) {
    say('running')
    agent.setMessages(messages)
    show()
    await agent
      .runAgent(
        { runId },
        {
          onRunFinishedEvent() {
            end = 'ready'
          },
          onRunErrorEvent({ event }) {
            end = `${event.code}: ${event.message}`
          },
        },
      )
      .catch((error: Error & { status?: number }) => {
        if (error.status !== undefined && error.status < 500) end = error.message
      })
    if (end === null) await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  keep({ messages: agent.messages, runId: null })
  say(end)
}

element('form').addEventListener('submit', (event) => {
  event.preventDefault()
  const form = new FormData(event.target as HTMLFormElement)
  const message: Message = { id: crypto.randomUUID(), role: 'user', content: `${form.get('message')}` }
  keep({ messages: [...kept().messages, message], runId: crypto.randomUUID() })
  ;(event.target as HTMLFormElement).reset()
  void run()
})

agent.setMessages(kept().messages)
show()
void run()
