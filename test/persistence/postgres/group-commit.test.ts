/** Group commit: what gathers while a statement is under way is one statement, and a failed item fails alone. */
import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import { createGroup, type Failed } from '../../../src/persistence/postgres/group-commit.ts'
import { verifies } from '../../verifies.ts'

interface Item {
  name: string
  lane: string
  row: string
}

/** Statements that the test answers. */
function heldGroup() {
  const statements: { names: string[]; answer(answers: (string | null)[]): void; fail(error: unknown): void }[] = []
  const alone: { name: string; failed: Failed | null; answer(answer: string): void; fail(error: unknown): void }[] = []
  const add = createGroup<Item, string>({
    together(items) {
      const { promise, resolve, reject } = Promise.withResolvers<(string | null)[]>()
      statements.push({ names: items.map(({ name }) => name), answer: resolve, fail: reject })
      return promise
    },
    alone({ name }, failed) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      alone.push({ name, failed, answer: resolve, fail: reject })
      return promise
    },
  })
  return {
    statements,
    alone,
    add: (name: string, { lane = name, row = '' } = {}) => add({ name, lane, row }),
    names: () => alone.map(({ name }) => name),
  }
}

const turn = () => vi.advanceTimersByTimeAsync(0)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a group', () => {
  verifies(
    'contract-4.stored-before-shown',
    'one alone waits for nothing; all that come meanwhile go together',
    async () => {
      const { add, alone, names, statements } = heldGroup()
      const first = add('a')
      expect(names()).toEqual(['a'])
      const others = [add('b'), add('c'), add('d')]
      await turn()
      expect(statements).toEqual([])
      alone[0]?.answer('A')
      expect(await first).toBe('A')
      await turn()
      expect(statements.map((one) => one.names)).toEqual([['b', 'c', 'd']])
      statements[0]?.answer(['B', 'C', 'D'])
      expect(await Promise.all(others)).toEqual(['B', 'C', 'D'])
      // Those of one turn of the event loop go along.
      const next = [add('e'), add('f'), add('g')]
      await turn()
      expect(statements[1]?.names).toEqual(['e', 'f', 'g'])
      statements[1]?.answer(['E', 'F', 'G'])
      expect(await Promise.all(next)).toEqual(['E', 'F', 'G'])
    },
  )

  verifies(
    'contract-4.stored-before-shown',
    'what a statement leaves out goes alone, in the order of its lane',
    async () => {
      const { add, alone, names, statements } = heldGroup()
      void add('first')
      const [taken, one, two, other] = [
        add('taken'),
        add('one', { lane: 's' }),
        add('two', { lane: 's' }),
        add('other'),
      ]
      alone[0]?.answer('')
      await turn()
      statements[0]?.answer(['taken', null, null, null])
      expect(await taken).toBe('taken')
      await turn()
      expect(names()).toEqual(['first', 'one', 'other'])
      expect(alone.map(({ failed }) => failed)).toEqual([null, null, null])
      // They are not awaited: the next ones are under way, and have ended.
      const late = [add('late'), add('later')]
      await vi.advanceTimersByTimeAsync(5)
      statements[1]?.answer(['late', 'later'])
      expect(await Promise.all(late)).toEqual(['late', 'later'])
      alone[1]?.fail(new Error('refused'))
      await expect(one).rejects.toThrow('refused')
      await turn()
      expect(names()).toEqual(['first', 'one', 'other', 'two'])
      alone[2]?.answer('other')
      alone[3]?.answer('two')
      expect(await Promise.all([two, other])).toEqual(['two', 'other'])
    },
  )

  verifies('contract-4.stored-before-shown', 'what takes a statement with it ends itself alone', async () => {
    const { add, alone, names, statements } = heldGroup()
    void add('first')
    const [good, bad] = [add('good'), add('bad')]
    alone[0]?.answer('')
    await turn()
    const error = new Error('bad data')
    statements[0]?.fail(error)
    await turn()
    expect(names()).toEqual(['first', 'good', 'bad'])
    expect(alone[1]?.failed).toEqual({ error, begin: expect.any(Number) })
    alone[1]?.answer('stored')
    alone[2]?.fail(error)
    expect(await good).toBe('stored')
    await expect(bad).rejects.toThrow('bad data')
  })

  verifies(
    'contract-4.storage-outage',
    'a statement without an answer holds the others back for a while only',
    async () => {
      const { add, alone, statements } = heldGroup()
      void add('locked')
      void add('a')
      void add('b')
      await vi.advanceTimersByTimeAsync(10)
      expect(statements.map(({ names }) => names)).toEqual([['a', 'b']])
      const next = [add('c'), add('d')]
      await vi.advanceTimersByTimeAsync(100)
      expect(statements.map(({ names }) => names)).toEqual([
        ['a', 'b'],
        ['c', 'd'],
      ])
      statements[1]?.answer(['c', 'd'])
      expect(await Promise.all(next)).toEqual(['c', 'd'])
      expect(alone).toHaveLength(1)
    },
  )

  verifies('contract-4.storage-outage', 'a statement holds 64 rows, and a mebibyte, at most', async () => {
    const { add, alone, statements } = heldGroup()
    void add('first')
    for (let n = 0; n < 100; n++) void add(`${n}`)
    const row = 'x'.repeat(600_000)
    for (const name of ['large', 'larger', 'last']) void add(name, { row })
    alone[0]?.answer('')
    for (let n = 0; n < 4; n++) {
      await vi.advanceTimersByTimeAsync(5)
      statements[n]?.answer(statements[n]?.names.map(() => '') ?? [])
    }
    expect(statements.map(({ names }) => names.length)).toEqual([64, 37])
    expect(alone.slice(1).map(({ name }) => name)).toEqual(['larger'])
  })

  verifies(
    'contract-4.stored-before-shown',
    'where many came together the first waits for as many, or 5 ms; alone again, for nothing',
    async () => {
      const { add, alone, names, statements } = heldGroup()
      void add('first')
      for (let n = 0; n < 8; n++) void add(`${n}`)
      alone[0]?.answer('')
      await turn()
      const answered = async (n: number) => {
        statements[n]?.answer(statements[n]?.names.map(() => '') ?? [])
        await turn()
      }
      await answered(0)
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) void add(name)
      await turn()
      expect(statements).toHaveLength(1)
      void add('h')
      await turn()
      expect(statements[1]?.names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
      await answered(1)
      void add('i')
      await vi.advanceTimersByTimeAsync(4)
      expect(names()).toEqual(['first'])
      await vi.advanceTimersByTimeAsync(1)
      expect(names()).toEqual(['first', 'i'])
      alone[1]?.answer('')
      for (const name of ['j', 'k']) {
        await turn()
        void add(name)
        await vi.advanceTimersByTimeAsync(5)
        alone.at(-1)?.answer('')
      }
      await turn()
      void add('at once')
      expect(names().at(-1)).toBe('at once')
      for (let n = 0; n < 8; n++) void add(`${n}`)
      alone.at(-1)?.answer('')
      await turn()
      await answered(2)
      await vi.advanceTimersByTimeAsync(101)
      void add('after a while')
      expect(names().at(-1)).toBe('after a while')
    },
  )
})
