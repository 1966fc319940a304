/** What decides over a run: which files are quick, and which rules count as verified. */
import { describe, expect, test } from 'vitest'
import { requirements } from './requirements/requirements.ts'
import { type RanTest, rulesOf, unverified } from './support/after-whole-run.ts'
import { spread } from './support/longest-first.ts'
import { filesOf, importsOf, quickFiles, wayToProcess } from './support/quick-files.ts'

describe('a rule is verified', () => {
  const ran = (state: 'passed' | 'failed' | 'skipped'): RanTest => ({
    result: () =>
      state === 'failed'
        ? { state, errors: [] }
        : state === 'skipped'
          ? { state, errors: undefined, note: undefined }
          : { state, errors: undefined },
    meta: () => ({ rules: ['contract-4.busy'] }),
  })

  test('by a test that passed', () => {
    expect(unverified([ran('skipped'), ran('passed')], 'short')).not.toContain('contract-4.busy')
    expect(unverified([ran('passed')], 'short')).toHaveLength(rulesOf('short').length - 1)
  })

  test.each(['failed', 'skipped'] as const)('by no test that was %s', (state) => {
    expect(unverified([ran(state)], 'short')).toContain('contract-4.busy')
  })

  test('in one tier', () => {
    const [short, long] = [rulesOf('short'), rulesOf('long')]
    expect(new Set([...short, ...long])).toEqual(new Set(Object.keys(requirements)))
    expect(short.filter((id) => long.includes(id))).toEqual([])
  })
})

describe('a file is quick', () => {
  test('unless something it imports starts a process', () => {
    expect(wayToProcess('test/actors/reply/reply-log.test.ts')).toBeNull()
    for (const file of [
      'test/http/sending/busy.test.ts',
      'test/ui/shell/login.long.test.ts',
      'test/e2e/kill9.test.ts',
    ]) {
      expect(wayToProcess(file)).not.toBeNull()
    }
  })

  test('by what it imports, not by types, comments and strings', () => {
    const source = `
      import a from './a.ts'
      import './b.ts'
      import type { C } from './c.ts'
      import {
        type D,
        d,
      } from '../d.ts'
      export * from 'e'
      // import './f.ts'
      const text = "from './g.ts'"
      const h = await import('./h.ts')
    `
    expect(importsOf('test/x/y.ts', source)).toEqual(['test/x/a.ts', 'test/x/b.ts', 'test/d.ts', 'e', 'test/x/h.ts'])
  })
})

describe('a tier', () => {
  test('holds each file once, but for those with a matrix', () => {
    const short = new Set(filesOf('short'))
    const both = filesOf('long').filter((file) => short.has(file))
    expect(both).toContain('test/persistence/postgres/migrate.test.ts')
    expect(both.filter((file) => file.startsWith('test/http/streaming/'))).toEqual([])
    expect(filesOf('long')).toContain('test/cluster/races.long.test.ts')
    expect(short).not.toContain('test/cluster/races.long.test.ts')
  })

  test('proves the providers in the inner loop', () => {
    expect(quickFiles().filter((file) => file.startsWith('test/providers/')).length).toBeGreaterThan(30)
  })
})

test('files start longest first, those with a browser spread among the others', () => {
  const unknown = ['test/a', 'test/b', 'test/c', 'test/d', 'test/ui/a', 'test/ui/b'] // of the same length
  const order = spread(unknown, (file) => file)
  expect(order).toEqual(['test/a', 'test/ui/a', 'test/b', 'test/c', 'test/ui/b', 'test/d'])
  const [longest] = spread(['test/http/input/input.test.ts', 'test/cluster/races.long.test.ts'], (file) => file)
  expect(longest).toBe('test/cluster/races.long.test.ts')
})
