/** A session's steps as a sequence: who told whom what, in order. Pure. */
import { type Tone, toneOf } from '../machine.ts'
import { isNote } from '../note-words.ts'
import { pastName, stateName } from '../reading/words.ts'
import type { Step } from '../step.ts'
import { duration } from '../words.ts'

export const parties = ['Caller', 'Session', 'Provider', 'Tools', 'Store'] as const
export type Party = (typeof parties)[number]

export interface Exchange {
  key: string
  /** ISO 8601. */
  at: string
  /** Both are the same for what a party does by itself. */
  from: Party
  to: Party
  words: string
  /** The name of a tool, as models see it, before the words. */
  tool: string | null
  tone: Tone
  /** Answers what was sent the other way. */
  isAnswer: boolean
  /** The step that told it. */
  step: Step
}

type Told = Pick<Exchange, 'from' | 'to' | 'words'> & Partial<Pick<Exchange, 'at' | 'tool' | 'tone' | 'isAnswer'>>

const fromCaller: ReadonlySet<string> = new Set(['message', 'decided', 'cancel', 'steered', 'deleted'])

/** Returns the exchanges of these steps. A note tells its span as far as it has come: what is told already is not repeated. */
export function exchangesOf(steps: readonly Step[]): Exchange[] {
  const admitted = new Map<string, number>()
  const spans = new Map<string, number>()
  return inOrder(
    steps.flatMap((step): Exchange[] => {
      const { messageId, seq, at } = step
      if (messageId !== null && !admitted.has(messageId)) admitted.set(messageId, Date.parse(at))
      const told = isNote(step) ? ofNote(step, admitted.get(messageId ?? '') ?? Date.parse(at)) : ofTransition(step)
      const span = isNote(step) ? `${messageId} ${step.detail.span}` : String(seq)
      const known = spans.get(span) ?? 0
      spans.set(span, Math.max(known, told.length))
      return told.slice(known).map((one, place) => ({
        ...{ key: `${seq}.${place}`, at, tool: null, tone: 'busy' as const, isAnswer: false, step },
        ...one,
      }))
    }),
  )
}

/** Returns them with no note later than the step that follows it: the two are told by different clocks. */
function inOrder(exchanges: Exchange[]): Exchange[] {
  let latest = ''
  return exchanges
    .toReversed()
    .map((one) => {
      if (!isNote(one.step)) latest = one.at
      return isNote(one.step) && latest !== '' && one.at > latest ? { ...one, at: latest } : one
    })
    .toReversed()
}

function ofTransition({ event, to }: Step): Told[] {
  const words = pastName(event)
  const tone = toneOf(to)
  if (event === 'settled') {
    return [
      { from: 'Store', to: 'Session', words, tone: 'settle', isAnswer: true },
      { from: 'Session', to: 'Caller', words: stateName(to).toLowerCase(), tone, isAnswer: true },
    ]
  }
  const told: Told[] = []
  if (fromCaller.has(event)) told.push({ from: 'Caller', to: 'Session', words, tone })
  else if (event === 'adopted') told.push({ from: 'Store', to: 'Session', words, tone })
  else if (to !== 'streaming.settling') told.push({ from: 'Session', to: 'Session', words, tone })
  if (to === 'streaming.settling') told.push({ from: 'Session', to: 'Store', words: savedWords(event), tone })
  return told
}

const savedWords = (event: string): string =>
  fromCaller.has(event) ? 'to be saved' : `to be saved: ${pastName(event)}`

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Returns what a note tells. `admittedAt`: the beginning of its reply, from which its times are counted. */
function ofNote({ event, detail }: Step, admittedAt: number): Told[] {
  const [start, first, end] = [detail.startMs, detail.firstTokenMs, detail.endMs].map(numberIn)
  if (start == null) return []
  const at = (ms: number) => new Date(admittedAt + ms).toISOString()
  const took = end == null ? '' : duration(Math.max(0, end - start))
  if (event === 'tool') {
    const tool = String(detail.name)
    const ended = detail.ok === true ? `has answered in ${took}` : `has failed after ${took}`
    return [
      { from: 'Session', to: 'Tools', words: 'is called', tool, at: at(start) },
      ...(end == null ? [] : [{ ...answer('Tools', ended, detail.ok), tool, at: at(end) }]),
    ]
  }
  if (event !== 'attempt') return []
  const wait = numberIn(detail.waitMs)
  const failure = `${detail.status ?? detail.code ?? 'failed'} after ${took}`
  const again = wait === null ? '' : `, again in ${duration(wait)}`
  return [
    {
      ...{ from: 'Session', to: 'Provider', at: at(start) },
      words: `attempt ${detail.attempt}${detail.model == null ? '' : `, ${detail.model}`}`,
    },
    ...(first == null
      ? []
      : [{ ...answer('Provider', `first token after ${duration(first - start)}`), at: at(first) }]),
    ...(end == null
      ? []
      : [
          {
            ...answer('Provider', detail.ok === false ? failure + again : `ends after ${took}`, detail.ok),
            at: at(end),
          },
        ]),
  ]
}

const answer = (from: Party, words: string, ok: unknown = true) =>
  ({ from, to: 'Session', words, isAnswer: true, tone: ok === false ? 'bad' : 'busy' }) as const
