/** The AI SDK's useChat on a Greenroom session: reload at any time, stop from any tab, lose no connection. */
import { useChat } from '@ai-sdk/react'
import { chatTransport } from '@greenroom/client'
import type { UIMessage, UIMessageChunk } from 'ai'
import type { FormEvent } from 'react'
import { createRoot } from 'react-dom/client'
import { agent, chatId, element } from '../page.ts'

type Message = UIMessage<{ status: 'complete' | 'streaming' | 'error'; error?: { code: string; message: string } }>

// A page with logins gives it `baseUrl` and `token` (docs/front-ends/use-chat.md).
const transport = chatTransport<Message, UIMessageChunk>({ baseUrl: '', agent })
const id = chatId()
const stored = await transport.load(id)

function Chat() {
  const { messages, sendMessage, status, error } = useChat<Message>({ id, messages: stored, resume: true, transport })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const field = event.currentTarget.elements.namedItem('message') as HTMLInputElement
    void sendMessage({ text: field.value })
    field.value = ''
  }
  return (
    <>
      {messages.map(({ id, role, parts, metadata }) => (
        <article key={id} data-role={role}>
          {parts.map((part, index) => (
            <div key={index}>
              {'text' in part ? part.text : 'toolName' in part && `${part.toolName}: ${part.state}`}
            </div>
          ))}
          {metadata?.error && metadata.error.message !== error?.message && <p role="alert">{metadata.error.message}</p>}
        </article>
      ))}
      <output>{error ? error.message : status}</output>
      <form onSubmit={send}>
        <input name="message" aria-label="Message" autoComplete="off" />
        <button type="submit">Send</button>
        <button type="button" onClick={() => void transport.stop(id)}>
          Stop
        </button>
      </form>
    </>
  )
}

createRoot(element('root')).render(<Chat />)
