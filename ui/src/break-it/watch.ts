/** Keeps the demo agent talking, sees every frame once, and reads all of it back: over breaks, for as long as it runs. */
import { createStore } from '@xstate/store'
import { type Counts, createChecker, nothingSeen } from './checker.ts'
import { ask, readReplies, resume, type WireEvent } from './wire.ts'

export type Line = 'off' | 'open' | 'broken'

interface WatchContext {
  line: Line
  /** The id of the reply that is written now. */
  text: string
  counts: Counts
  /** The events, newest first. */
  events: readonly { id: number; at: string; words: string }[]
}

export function createWatchStore() {
  const context: WatchContext = { line: 'off', text: '', counts: nothingSeen, events: [] }
  return createStore({
    context,
    on: {
      line: (before, { line }: { line: Line }) => ({ ...before, line }),
      text: (before, { text }: { text: string }) => ({ ...before, text }),
      counted: (before, { counts }: { counts: Counts }) => ({ ...before, counts }),
      happened: (before, { words, at }: { words: string; at: string }) => ({
        ...before,
        events: [{ id: before.events.length, at, words }, ...before.events],
      }),
    },
  })
}

export type WatchStore = ReturnType<typeof createWatchStore>

const CHECK_MS = 1000
const AGAIN_MS = 500
/** Twenty seconds of the demo model, and a gap or a repetition would leap to the eye. */
const message = `/echo ${Array.from({ length: 800 }, (_, index) => index + 1).join(' ')}`

/** The reasons why a reply ends when it is broken here, by error code. */
const reasons: Readonly<Record<string, string>> = {
  provider_error: 'the provider was cut off',
  internal: 'the database did not store it in time',
}

/** Runs until it is aborted. */
export async function watch(store: WatchStore, signal: AbortSignal): Promise<void> {
  const checker = createChecker()
  const { trigger } = store
  const say = (words: string) => trigger.happened({ words, at: new Date().toISOString() })
  let sessionId: string | null = null
  let replyId = ''
  let lastId = 0
  let isReplyOver = true
  let brokenAt: number | null = null

  const opened = () => {
    trigger.line({ line: 'open' })
    if (brokenAt === null) return
    say(`Connected again after ${((performance.now() - brokenAt) / 1000).toFixed(1)} s`)
    brokenAt = null
    check().catch(() => {}) // all that was ever seen
  }
  const broke = () => {
    trigger.line({ line: 'broken' })
    if (brokenAt === null) say('The connection broke')
    brokenAt ??= performance.now()
  }
  const take = (event: WireEvent) => {
    if (event.type === 'ended') {
      isReplyOver = true
      if (event.how === 'error') say(`The reply ended there: ${reasons[event.code ?? ''] ?? event.code}`)
      return
    }
    if (!checker.saw(event)) return
    const isNew = event.replyId !== replyId
    replyId = event.replyId
    lastId = Math.max(lastId, event.id)
    trigger.text({ text: isNew ? event.text : store.getSnapshot().context.text + event.text })
    trigger.counted({ counts: checker.counts() })
  }
  const check = async (one?: string) => {
    if (sessionId === null) return
    const due = checker.due(one)
    const ids = [...new Set(due.map((frame) => frame.replyId))]
    if (ids.length === 0) return
    checker.read(due, await readReplies(sessionId, ids, signal))
    trigger.counted({ counts: checker.counts() })
  }
  const step = async () => {
    const stream: Awaited<ReturnType<typeof ask>> =
      isReplyOver || sessionId === null
        ? await ask(message, sessionId, signal)
        : await resume(sessionId, lastId, signal)
    sessionId = stream.sessionId ?? sessionId
    opened()
    // Busy: a reply runs that was asked for before the break. None to follow: the next one is asked for.
    isReplyOver = stream.events === null && !isReplyOver
    for await (const event of stream.events ?? []) take(event)
    if (stream.events !== null && !isReplyOver) broke()
    else await check(replyId)
  }
  let isChecking = false
  const checkAgain = async () => {
    if (isChecking) return
    isChecking = true
    await check(replyId).catch(() => {}) // no answer: the next check comes in a second
    isChecking = false
  }
  const checks = setInterval(checkAgain, CHECK_MS)
  try {
    while (!signal.aborted) {
      await step().catch(() => signal.aborted || broke())
      if (store.getSnapshot().context.line === 'broken') await after(AGAIN_MS, signal)
    }
  } finally {
    clearInterval(checks)
    trigger.line({ line: 'off' })
  }
}

const after = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
