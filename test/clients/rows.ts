/** The rows of docs/clients.md, in their order. */
export const rows = {
  whole: 'Whole answer, with finish reason and usage',
  stream: 'Stream, piece by piece',
  helper: 'Stream put together by the client',
  usage: 'Usage of a stream, and how it is asked for',
  turns: 'Earlier turns',
  parts: 'Content as an array of text parts',
  structured: 'An answer by a JSON Schema',
  agentTools: 'Tools of the agent',
  ownTools: 'Tools that the caller brings',
  loop: 'Its own loop of the caller’s tools, unmodified',
  abort: 'The caller aborts a stream',
  wrongKey: 'Wrong key: 401',
  noAgent: 'No such agent or session: 404',
  system: 'A system message, as long as the agent does not take any (`callerInstructions`): 400',
  image: 'A picture that cannot be taken: 400',
  busy: 'A reply is running: 409',
  full: 'Too many replies at a time: 503, then room',
  failed: 'The model fails: 500',
  broken: 'The model fails in the middle of a stream',
  lost: 'Connection lost before the answer; the client tries again',
  keyed: 'The same, with an `Idempotency-Key` header',
} as const

export type Row = keyof typeof rows

export const resumeRows = {
  replay: 'The reply from its beginning',
  live: 'A reply that runs, as it comes',
  reconnect: 'Connection lost in the middle',
  ended: 'After `[DONE]`',
  nothing: 'No reply yet: 204',
  key: 'With `PUBLIC_API_KEY` set',
} as const

export type ResumeRow = keyof typeof resumeRows

export const uiRows = {
  setUp: 'Set up by',
  stream: 'A reply, as it comes',
  tools: 'Tools of the agent',
  reload: 'Page reloaded in the middle of a reply',
  lost: 'Connection lost in the middle',
  stop: 'Its own stop, and the next message',
  busy: 'A message from another tab while a reply runs',
  failed: 'The model fails in the middle',
  again: 'Another reply; an edited message',
} as const

export type UiRow = keyof typeof uiRows

export const contentRows = {
  url: 'A picture by URL',
  data: 'A picture by its bytes',
  pdf: 'A PDF',
  schema: 'An answer by a JSON Schema',
} as const

export type ContentRow = keyof typeof contentRows

export const responsesRows = {
  set: 'Set up by',
  whole: 'Whole answer',
  stream: 'Stream, piece by piece',
  keeps: 'The next message goes to the same session: the client',
  loop: 'Tools that the caller brings; their calls are made by',
  background: 'Background, and continuing after a number',
  approves: 'Approvals',
  failed: 'The model fails',
} as const

export type ResponsesRow = keyof typeof responsesRows

/** What a run has seen of one client. Kept in test/clients/recorded, compared by each run. */
export interface Recorded<Id extends string = string> {
  client: string
  version: string
  cells: Record<string, Partial<Record<Id, string>>>
}
