/** The AI SDK's useChat on a Greenroom session: reload at any time, stop from any tab. */
import { useChat } from '@ai-sdk/react'
import { APICallError, DefaultChatTransport, type UIMessage } from 'ai'
import { type FormEvent, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { chatId, deploy, element } from '../page.ts'

type Message = UIMessage<{ status: 'complete' | 'streaming' | 'error' }>

const api = `${deploy}/ai-sdk`
const id = chatId()

async function storedMessages(): Promise<Message[]> {
  const answer = await fetch(`${api}/${id}/messages`)
  return (await answer.json()).messages
}

const stored = await storedMessages()
/** The page holds a part of a reply, which may have ended meanwhile. */
let isPartial = stored.at(-1)?.metadata?.status === 'streaming'

const mayComeBack = (error: Error) =>
  error instanceof TypeError || (APICallError.isInstance(error) && error.isRetryable)

function Chat() {
  const transport = useMemo(
    () =>
      new DefaultChatTransport<Message>({
        api,
        async fetch(url, init) {
          const answer = await fetch(url, init)
          if (answer.status === 204 && isPartial) setMessages(await storedMessages())
          return answer
        },
      }),
    [],
  )
  const { messages, sendMessage, setMessages, resumeStream, status, error } = useChat<Message>({
    id,
    messages: stored,
    resume: true,
    transport,
    // Nothing is lost with a connection: the reply goes on, and its stream begins again for whoever asks.
    onError(error) {
      if (!mayComeBack(error)) return
      isPartial = true
      setTimeout(resumeStream, 1000)
    },
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const field = event.currentTarget.elements.namedItem('message') as HTMLInputElement
    void sendMessage({ text: field.value })
    field.value = ''
  }
  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <article key={id} data-role={role}>
          {parts.map((part, index) => (
            <div key={index}>
              {'text' in part ? part.text : 'toolName' in part && `${part.toolName}: ${part.state}`}
            </div>
          ))}
        </article>
      ))}
      <output>{error ? error.message : status}</output>
      <form onSubmit={send}>
        <input name="message" aria-label="Message" autoComplete="off" />
        <button type="submit">Send</button>
        <button type="button" onClick={() => void fetch(`${api}/${id}/stream`, { method: 'DELETE' })}>
          Stop
        </button>
      </form>
    </>
  )
}

createRoot(element('root')).render(<Chat />)
