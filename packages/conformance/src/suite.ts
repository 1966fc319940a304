/** Runs the checks, one after the other. */
import { checksOf } from './checks/index.ts'
import { awaited, Failure, isUnreachable, refusedWith, TimedOut, wordsOf } from './failures.ts'
import type { Model } from './model/server.ts'
import type { Adapter, Check, Context, Level, Need, Outcome, Result, ServerControl } from './types.ts'

export interface RunOptions {
  adapter: Adapter
  model: Model
  url: string
  url2: string | null
  agent: string | null
  key: string | null
  level: Level
  only: RegExp | null
  timeoutMs: number
  server: ServerControl
  /** The wish to stop: aborts to end the run with what it has. */
  signal: AbortSignal
  onBegin?: (check: Check) => void
  onEnd?: (outcome: Outcome) => void
}

/** Resolves to the outcomes of the checks that were run. */
export async function runSuite(options: RunOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const check of checksOf(options.level, options.only)) {
    if (options.signal.aborted) break
    options.onBegin?.(check)
    const begin = performance.now()
    const { result, message } = await runCheck(check, options)
    if (options.signal.aborted) break
    const { id, level } = check
    const outcome = { id, level, result, ms: Math.round(performance.now() - begin), message }
    outcomes.push(outcome)
    options.onEnd?.(outcome)
  }
  return outcomes
}

const offersTo = ({ offers, followsEnded = true }: Adapter, need: Need): boolean =>
  need === 'followEnded' ? followsEnded : offers.includes(need)

interface Judged {
  result: Result
  message: string | null
}

async function runCheck(check: Check, options: RunOptions): Promise<Judged> {
  const { adapter, timeoutMs } = options
  const missing = check.needs.filter((need) => !offersTo(adapter, need))
  if (missing.length > 0) return { result: 'not offered', message: `The adapter does not offer ${missing.join(', ')}.` }
  const over = new AbortController()
  const stop = () => {
    const what = awaited.get(over.signal)?.() ?? 'an end of the stream, and it did not come'
    over.abort(new TimedOut(`Within ${timeoutMs / 1000} s: expected ${what}.`))
  }
  const timer = setTimeout(stop, timeoutMs)
  options.signal.addEventListener('abort', stop)
  const stopped = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason))
  })
  try {
    await Promise.race([check.run(contextOf(check, options, over.signal)), stopped])
    return { result: 'pass', message: null }
  } catch (error) {
    return judge(over.signal.aborted && !(error instanceof Failure) ? over.signal.reason : error)
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', stop)
    stopped.catch(() => {})
    over.abort(new TimedOut('The check is over.'))
  }
}

/** Returns what an error says: a fault of the server, or that the check could not be run. */
function judge(error: unknown): Judged {
  const message = wordsOf(error)
  if (error instanceof Failure || refusedWith(error) !== null) return { result: 'fail', message }
  if (isUnreachable(error)) return { result: 'error', message: `The server could not be reached: ${message}` }
  // `fetch` rejects with a TypeError where a connection breaks.
  const isBroken = error instanceof TypeError && error.cause !== undefined
  if (isBroken || /terminated/.test(message)) return { result: 'fail', message: `The connection broke off: ${message}` }
  return { result: 'error', message }
}

const notThere = (): Promise<never> => Promise.reject(new Error('This verb is not offered.'))

function contextOf(check: Check, options: RunOptions, signal: AbortSignal): Context {
  const { adapter, model, url, url2, agent, key, server } = options
  const run = crypto.randomUUID().slice(0, 8)
  const asked: string[] = []
  return {
    adapter: {
      name: adapter.name,
      offers: adapter.offers,
      continues: adapter.continues ?? false,
      followsEnded: adapter.followsEnded ?? true,
      configure: notThere,
      createConversation: (...given) => adapter.createConversation(...given),
      send: (...given) => adapter.send(...given),
      follow: (...given) => adapter.follow?.(...given) ?? nothing(),
      async read(...given) {
        const messages = (await adapter.read?.(...given)) ?? (await notThere())
        const roleOf = (text: string) => (asked.includes(text) ? 'user' : 'assistant')
        return messages.map((message) => ({ ...message, role: message.role ?? roleOf(message.text) }))
      },
      cancel: (...given) => adapter.cancel?.(...given) ?? notThere(),
      remove: (...given) => adapter.remove?.(...given) ?? notThere(),
    },
    model,
    signal,
    server,
    target: { url, url2, agent, key, signal },
    other: { url: url2 ?? url, url2: url, agent, key, signal },
    ask(rule) {
      const text = `${rule} (${check.id} ${run}-${asked.length + 1})`
      asked.push(text)
      return text
    },
  }
}

async function* nothing() {}
