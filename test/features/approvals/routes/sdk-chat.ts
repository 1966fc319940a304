/** The AI SDK's own chat, as `useChat` has it, without React. */
import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai'

/** `messages`: those that the page begins with. */
export function sdkChat(api: string, id: string, body: object = {}, messages: UIMessage[] = []) {
  let settled = Promise.withResolvers<void>()
  const state: ChatState<UIMessage> = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage: (message) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
    snapshot: (value) => structuredClone(value),
  }
  class Chat extends AbstractChat<UIMessage> {
    protected override setStatus(one: { status: ChatStatus; error?: Error }): void {
      super.setStatus(one)
      if (one.status === 'ready' || one.status === 'error') settled.resolve()
    }
  }
  const chat = new Chat({
    id,
    state,
    transport: new DefaultChatTransport({ api, body }),
    sendAutomaticallyWhen: (at) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(at) || lastAssistantMessageIsCompleteWithToolCalls(at),
  })
  return {
    chat,
    state,
    /** Resolves when the next request of the chat is over. */
    next(): Promise<void> {
      settled = Promise.withResolvers<void>()
      return settled.promise
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the SDK's parts are what the tests look at
export const toolParts = (message: UIMessage | undefined): any[] =>
  (message?.parts ?? []).filter(({ type }) => type === 'dynamic-tool')
