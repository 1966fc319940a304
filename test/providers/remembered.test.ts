/** Caches that are full drop the entry that was used least recently, and keep all others. */
import { expect, test } from 'vitest'
import type { ModelEvent } from '../../src/actors/ports/index.ts'
import { createStoredTexts } from '../../src/features/traces/store/request-writer.ts'
import { createSeldomLog } from '../../src/http/server/database-errors/seldom-log.ts'
import { limitRepeats } from '../../src/persistence/postgres/embedded/message-limit.ts'
import { askingForReasoning } from '../../src/providers/reasoning.ts'
import { callWithout } from '../../src/providers/request/optional-fields.ts'
import { ProviderProblem } from '../../src/providers/wire/failure.ts'
import { createRemembered } from '../../src/providers/wire/remembered.ts'
import { watchUsageReports } from '../../src/providers/wire/usage-reports.ts'
import { requestTo } from './scene.ts'

/** Uses the cache for the key. True when the cache knew it before. */
type Use = (key: string) => boolean | Promise<boolean>

const refusal = () => new ProviderProblem({ kind: 'answered', status: 400, reason: 'no such field', full: 'no field' })
const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 }

const caches: { name: string; most: number; open: () => Use }[] = [
  {
    name: 'refused fields',
    most: 1000,
    open() {
      const refusals = createRemembered<true>()
      const field = { words: /no field/, isIn: (body: string) => body === 'with', without: () => 'without' }
      return async (model) => {
        let calls = 0
        await callWithout(requestTo(null, { model }), 'with', [field], refusals, async (body) => {
          calls += 1
          if (body === 'with') throw refusal()
        })
        return calls === 1
      }
    },
  },
  {
    name: 'models that refuse to show their reasoning',
    most: 1000,
    open() {
      const refusals = createRemembered<true>()
      return async (model) => {
        let calls = 0
        const request = requestTo(null, { model, reasoning: true })
        await askingForReasoning(
          request,
          () => true,
          refusals,
          async ({ reasoning }) => {
            calls += 1
            if (reasoning) throw refusal()
          },
        )
        return calls === 1
      }
    },
  },
  {
    name: 'models that report usage',
    most: 1000,
    open() {
      let expected = 0
      const watch = watchUsageReports(() => {
        expected += 1
      })
      return (model) => {
        const before = expected
        const turn = watch(requestTo(null, { model }))
        const events: ModelEvent[] = [{ type: 'text', text: 'x' }]
        turn(events)
        turn([{ type: 'end', reason: 'stop', usage }])
        return expected === before
      }
    },
  },
  {
    name: 'texts that were stored',
    most: 1000,
    open() {
      const texts = createStoredTexts()
      return (text) => !texts.look(text).isDue
    },
  },
  {
    name: 'messages of the embedded server',
    most: 100,
    open() {
      let said = 0
      const say = limitRepeats(
        () => {
          said += 1
        },
        () => 0,
      )
      return (message) => {
        const before = said
        say(message, message)
        return said === before
      }
    },
  },
  {
    name: 'failures of the database',
    most: 1000,
    open() {
      const log = createSeldomLog(60_000, () => 0)
      const err = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
      return (message) => log({ err }, message) === null
    },
  },
]

test.each(caches)('$name: a full cache keeps the newest and drops the least recently used', async ({ most, open }) => {
  const use = open()
  for (let n = 0; n < most; n++) await use(`k${n}`)
  const [oldest, next, newest] = ['k0', 'k1', `k${most}`]
  expect(await use(oldest)).toBe(true)
  expect(await use(newest)).toBe(false)
  expect([await use(oldest), await use(newest), await use(`k${most - 1}`), await use(next)]).toEqual([
    true,
    true,
    true,
    false,
  ])
})
