/**
 * CopilotKit's client as `CopilotChat` uses it: a thread with an id is connected to, then messages are run. `base` is the
 * address of its runtime.
 */
import { CopilotKitCore } from '@copilotkit/core'

const connected = (core) =>
  new Promise((resolve) => {
    const look = () => core.runtimeConnectionStatus === 'connected' && resolve()
    core.subscribe({ onRuntimeConnectionStatusChanged: look })
    look()
  })

async function openCopilotKit({ base, id }) {
  const core = new CopilotKitCore({ runtimeUrl: base })
  let error = null
  core.subscribe({
    onError: ({ code, error: { name, message } }) => {
      error = { name, message, code }
    },
  })
  await connected(core)
  const agent = core.getAgent('default')
  agent.threadId = id
  const run = () => {
    error = null
    void core.runAgent({ agent })
  }
  const lastAsked = () => agent.messages.findLastIndex(({ role }) => role === 'user')
  void core.connectAgent({ agent })
  return {
    send(text) {
      agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
      run()
    },
    stop: () => core.stopAgent({ agent }),
    // As `reloadMessages` does.
    regenerate() {
      agent.setMessages(agent.messages.slice(0, lastAsked() + 1))
      run()
    },
    edit(text) {
      agent.setMessages(agent.messages.slice(0, lastAsked()))
      this.send(text)
    },
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

export async function open(_name, ask) {
  globalThis.client = await openCopilotKit(ask)
}
