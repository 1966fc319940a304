/**
 * Clients for pages, as their users set them up; ui-bundle.ts makes one script of it. `greenroom.open(name, ask)` mounts
 * one; what it shows is read by the test. `kept` is what a page keeps over a reload beside the id.
 */
import { HttpAgent } from '@ag-ui/client'
import { useChat } from '@ai-sdk/react'
import { AssistantRuntimeProvider } from '@assistant-ui/react'
import { AssistantChatTransport, useAISDKRuntime, useChatRuntime } from '@assistant-ui/react-ai-sdk'
import { DefaultChatTransport } from 'ai'
import { DefaultChatTransport as DefaultChatTransport6 } from 'ai-6'
import { useChat as useChat6 } from 'ai-sdk-react-6'
import 'deep-chat'
import { createElement } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'

/** At once, so that what a test opened can be used. */
const mount = (component) => {
  const root = createRoot(document.body.appendChild(document.createElement('div')))
  flushSync(() => root.render(createElement(component)))
}

const errorOf = (error) => (error ? { name: error.name, message: error.message } : null)

const storedMessages = async (api, id) => (await (await fetch(`${api}/${id}/messages`)).json()).messages

async function chatOptions({ base, id }) {
  const api = `${base}/ai-sdk`
  return { id, messages: await storedMessages(api, id), resume: true, transport: new DefaultChatTransport({ api }) }
}

/** As docs/front-ends/ui.md says: where a reply that the page has a part of ended before its stream was asked for, it reads again. */
async function openUseChat(ask, { use = useChat, Transport = DefaultChatTransport } = {}) {
  const options = await chatOptions(ask)
  const api = `${ask.base}/ai-sdk`
  let isPartial = options.messages.at(-1)?.metadata?.status === 'streaming'
  let chat
  options.transport = new Transport({
    api,
    async fetch(url, init) {
      const answer = await fetch(url, init)
      if (answer.status === 204 && isPartial) chat.setMessages(await storedMessages(api, ask.id))
      return answer
    },
  })
  mount(() => {
    chat = use(options)
    return null
  })
  return {
    send: (text) => void chat.sendMessage({ text }),
    stop: () => chat.stop(),
    regenerate: () => void chat.regenerate(),
    edit: (text) =>
      void chat.sendMessage({ text, messageId: chat.messages.findLast(({ role }) => role === 'user').id }),
    comeBack() {
      isPartial = true
      void chat.resumeStream()
    },
    cancel: async () => (await fetch(`${api}/${ask.id}/stream`, { method: 'DELETE' })).status,
    whole: () => chat?.messages ?? [],
    shown: () => ({
      status: chat?.status ?? 'loading',
      error: errorOf(chat?.error),
      messages: (chat?.messages ?? []).map(({ role, parts }) => ({
        role,
        text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        tools: parts
          .filter(({ type }) => type === 'dynamic-tool')
          .map(({ toolName, output, errorText }) => [toolName, output ?? errorText]),
      })),
    }),
  }
}

async function openAssistantUi(ask) {
  const options = await chatOptions(ask)
  let chat
  let runtime
  mount(() => {
    chat = useChat(options)
    runtime = useAISDKRuntime(chat)
    return createElement(AssistantRuntimeProvider, { runtime })
  })
  const last = () => runtime.thread.getMessageById(runtime.thread.getState().messages.at(-1).id)
  const shown = ({ role, content }) => ({
    role,
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    tools: content.filter(({ type }) => type === 'tool-call').map(({ toolName, result }) => [toolName, result]),
  })
  return {
    send: (text) => void runtime.thread.append({ role: 'user', content: [{ type: 'text', text }] }),
    stop: () => runtime.thread.cancelRun(),
    regenerate: () => last().reload(),
    edit: (text) => {
      const messages = runtime.thread.getState().messages
      const place = messages.findLastIndex(({ role }) => role === 'user')
      const parentId = messages[place - 1]?.id ?? null
      runtime.thread.append({ role: 'user', content: [{ type: 'text', text }], parentId, sourceId: messages[place].id })
    },
    turnBack: () => last().switchToBranch({ position: 'previous' }),
    branch: () => [last().getState().branchNumber, last().getState().branchCount],
    comeBack: () => void chat.resumeStream(),
    shown: () => ({
      status: runtime?.thread.getState().isRunning ? 'streaming' : (chat?.status ?? 'loading'),
      error: errorOf(chat?.error),
      messages: (runtime?.thread.getState().messages ?? []).map(shown),
    }),
  }
}

/** As in the AI SDK's quick start, but for the address: no id, no messages. */
async function openQuickUseChat({ base }) {
  const transport = new DefaultChatTransport({ api: `${base}/ai-sdk` })
  let chat
  mount(() => {
    chat = useChat({ transport })
    return null
  })
  return {
    send: (text) => void chat.sendMessage({ text }),
    stop: () => chat.stop(),
    regenerate: () => void chat.regenerate(),
    shown: () => ({
      status: chat?.status ?? 'loading',
      error: errorOf(chat?.error),
      messages: (chat?.messages ?? []).map(({ role, parts }) => ({
        role,
        text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        tools: [],
      })),
    }),
  }
}

/** As in assistant-ui's quick start, but for the address. */
async function openChatRuntime({ base }) {
  const transport = new AssistantChatTransport({ api: `${base}/ai-sdk` })
  let runtime
  mount(() => {
    runtime = useChatRuntime({ transport })
    return createElement(AssistantRuntimeProvider, { runtime })
  })
  const messages = () => runtime?.thread.getState().messages ?? []
  return {
    send: (text) => void runtime.thread.append({ role: 'user', content: [{ type: 'text', text }] }),
    stop: () => runtime.thread.cancelRun(),
    regenerate: () => runtime.thread.getMessageById(messages().at(-1).id).reload(),
    shown: () => ({
      status: runtime?.thread.getState().isRunning ? 'streaming' : runtime ? 'ready' : 'loading',
      error: errorOf(messages().at(-1)?.status?.error),
      messages: messages().map(({ role, content }) => ({
        role,
        text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        tools: [],
      })),
    }),
  }
}

/**
 * As its page on OpenAI says, but for the address: that of a session, which keeps what was said. A page that has the id shows
 * what is stored of it.
 */
async function openDeepChat({ base, id: given, kept }) {
  const id = kept ?? (given || (await (await fetch(`${base}/sessions`, { method: 'POST' })).json()).id)
  const session = `${base}/sessions/${id}`
  const additionalBodyProps = { on_busy: 'interrupt' }
  const connect = { url: `${session}/chat/completions`, stream: true, additionalBodyProps }
  const history = (await storedMessages(`${base}/sessions`, id)).map(({ role, content }) => ({
    role: role === 'assistant' ? 'ai' : role,
    text: content,
  }))
  const chat = document.createElement('deep-chat')
  let isReady = false
  let error = null
  chat.onComponentRender = () => {
    isReady = true
  }
  chat.onError = ({ error: message }) => {
    error = { name: 'Error', message: String(message) }
  }
  Object.assign(chat, { directConnection: { openAI: { key: 'any', completions: true } }, connect, history })
  document.body.append(chat)
  // Its button for the user: it sends, and stops what comes.
  const stopButton = () => chat.shadowRoot.querySelector('#stop-icon')?.parentElement
  return {
    send: (text) => void chat.submitUserMessage({ text }),
    stop: () => stopButton().click(),
    kept: () => id,
    shown: () => ({
      status: !isReady ? 'loading' : stopButton() ? 'streaming' : 'ready',
      error,
      messages: (isReady ? chat.getMessages() : []).map(({ role, text }) => ({
        role: role === 'ai' ? 'assistant' : role,
        text,
        tools: [],
      })),
    }),
  }
}

async function openAgUi({ base, id, kept }) {
  const agent = new HttpAgent({ url: `${base}/ag-ui`, threadId: id, initialMessages: kept?.messages ?? [] })
  let error = null
  const run = () => {
    error = null
    const failed = ({ event }) => {
      error = { name: 'RUN_ERROR', message: event.message, code: event.code }
    }
    agent.runAgent({ runId: kept.runId }, { onRunErrorEvent: failed }).catch((thrown) => {
      error = errorOf(thrown)
    })
  }
  const runAnew = () => {
    kept = { runId: crypto.randomUUID(), messages: [...agent.messages] }
    run()
  }
  const lastAsked = () => agent.messages.findLastIndex(({ role }) => role === 'user')
  if (kept) run()
  return {
    send(text) {
      agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
      runAnew()
    },
    stop: () => agent.abortRun(),
    // As CopilotKit does: the list is cut behind the newest user message, and run again.
    regenerate() {
      agent.setMessages(agent.messages.slice(0, lastAsked() + 1))
      runAnew()
    },
    edit(text) {
      agent.setMessages(agent.messages.slice(0, lastAsked()))
      this.send(text)
    },
    comeBack() {
      agent.setMessages(kept.messages)
      run()
    },
    kept: () => kept,
    shown: () => ({
      status: agent.isRunning ? 'streaming' : error ? 'error' : 'ready',
      error,
      messages: agent.messages
        .filter(({ role }) => role === 'user' || role === 'assistant')
        .map(({ role, content, toolCalls = [] }) => ({
          role,
          text: content ?? '',
          tools: toolCalls.map((call) => [
            call.function.name,
            agent.messages.find(({ toolCallId }) => toolCallId === call.id)?.content,
          ]),
        })),
    }),
  }
}

const clients = {
  'use-chat': openUseChat,
  'use-chat-6': (ask) => openUseChat(ask, { use: useChat6, Transport: DefaultChatTransport6 }),
  'assistant-ui': openAssistantUi,
  'ag-ui': openAgUi,
  'use-chat-quick-start': openQuickUseChat,
  'use-chat-runtime': openChatRuntime,
  'deep-chat': openDeepChat,
}

export async function open(name, ask) {
  globalThis.client = await clients[name](ask)
}
