/** Contract section 4: history sent to the model, titles, clean text. Section 1: HISTORY_MAX_TOKENS. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanText, createTextCleaner } from '../../../src/actors/generate/text-cleaner.ts'
import { tokensOfAll } from '../../../src/actors/history/estimate.ts'
import { deriveTitle } from '../../../src/actors/history/title.ts'
import type { HistoryMessage, MessagePart } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { modelHistory } from './sent-history.ts'

const user = (content: string): HistoryMessage => ({ role: 'user', content })
const assistant = (content: string): HistoryMessage => ({ role: 'assistant', content })
const picture = (sha256: string): MessagePart => ({
  ...{ type: 'image_url', mediaType: 'image/png', filename: null, detail: null, sourceUrl: null, place: 0 },
  ...{ size: 1, sha256, async *read() {} },
})

describe('history', () => {
  verifies('contract-4.history', 'replies as they were seen, the newest message last', () => {
    expect(modelHistory([user('a'), assistant('b')], 'c', 100)).toEqual([user('a'), assistant('b'), user('c')])
  })
  verifies('contract-4.history', 'empty replies are left out, neighbours of the same role joined', () => {
    expect(modelHistory([user('a'), assistant(''), user('b'), assistant('x')], 'c', 100)).toEqual([
      ...[user('a\n\nb'), assistant('x'), user('c')],
    ])
    expect(modelHistory([user('a'), assistant('')], 'b', 100)).toEqual([user('a\n\nb')])
  })
  verifies('contract-4.history', 'a message that failed empty and was sent again is sent once', () => {
    expect(modelHistory([user('a'), assistant(''), user('a'), assistant('')], 'a', 100)).toEqual([user('a')])
    expect(modelHistory([user('a'), assistant('half')], 'a', 100)).toEqual([user('a'), assistant('half'), user('a')])
    // Sent again at once, before another message came.
    const sent = [user('a'), assistant(''), user('a'), assistant('x')]
    expect(modelHistory(sent, 'c', 100)).toEqual([user('a'), assistant('x'), user('c')])
  })
  verifies('contract-4.history', 'the same words with another picture are another message', () => {
    const one = { ...user('a'), parts: [picture('1')] }
    const sent = (parts: MessagePart[]) => modelHistory([one, assistant('')], 'a', 10_000, true, parts)[0]?.content
    expect([sent([picture('1')]), sent([picture('2')]), sent([])]).toEqual(['a', 'a\n\na', 'a\n\na'])
    const linked = (sourceUrl: string) => ({ ...picture('1'), sourceUrl })
    const again = { ...user('a'), parts: [linked('https://a/')] }
    const of = (url: string) => modelHistory([again, assistant('')], 'a', 10_000, true, [linked(url)])[0]?.content
    expect([of('https://a/'), of('https://b/')]).toEqual(['a', 'a\n\na'])
  })
  verifies('contract-1.history-limit', 'the oldest whole turns go, the newest message never', () => {
    const long = 'word '.repeat(100) // 100 tokens
    const history = [user(long), assistant('1'), user('b'), assistant('2')]
    expect(modelHistory(history, 'c', 50)).toEqual([user('b'), assistant('2'), user('c')])
    expect(modelHistory(history, long, 1)).toEqual([user(long)])
    expect(modelHistory(history, '', 1)).toEqual([user('')])
  })
  verifies('contract-1.history-limit', 'a reply whose question was too old to be read is half a turn, and goes', () => {
    expect(modelHistory([assistant('half'), user('b'), assistant('2')], 'c', 100)).toEqual([
      ...[user('b'), assistant('2'), user('c')],
    ])
    expect(modelHistory([assistant('half')], 'c', 100)).toEqual([user('c')])
  })
  verifies('contract-1.history-limit', 'of every history newest whole turns are sent, and no more than fit', () => {
    const turns = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), { maxLength: 8 })
    fc.assert(
      fc.property(turns, fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 60 }), (all, newest, limit) => {
        const told = (some: typeof all) => some.flatMap(([asked, answered]) => [user(asked), assistant(answered)])
        const sent = modelHistory(told(all), newest, limit)
        const count = (sent.length - 1) / 2
        expect(sent).toEqual([...told(all.slice(all.length - count)), user(newest)])
        expect(tokensOfAll(sent.slice(0, -1))).toBeLessThanOrEqual(limit)
      }),
    )
  })
  verifies(
    'contract-19.too-long',
    'a question that was itself too long is told of, not sent again and not joined with the next one',
    () => {
      const failed: HistoryMessage = { ...assistant(''), isTooLong: true }
      const sent = modelHistory([user('a'), assistant('b'), user('far too long'), failed], 'hello', 1000)
      expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
      expect(sent.at(-1)).toEqual(user('hello'))
      expect(JSON.stringify(sent)).toContain('too long to be sent')
      expect(JSON.stringify(sent)).not.toContain('far too long')
      // A reply that used tools before it met the limit has something to go on from.
      const acted: HistoryMessage = { ...assistant('half'), isTooLong: true }
      expect(modelHistory([user('q'), acted], 'hello', 1000)).toEqual([user('q'), assistant('half'), user('hello')])
      // Of two replies that continue each other the second alone met the limit.
      expect(modelHistory([user('q'), assistant('half'), failed], 'hello', 1000)[0]).toEqual(user('q'))
    },
  )
  test('every history ends with the newest message, alternates, and starts with the user', () => {
    const messages = fc
      .array(fc.tuple(fc.string({ minLength: 1 }), fc.string()))
      .map((turns) => turns.flatMap(([asked, answered]) => [user(asked), assistant(answered)]))
    fc.assert(
      fc.property(messages, fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 50 }), (history, newest, limit) => {
        const told = modelHistory(history, newest, limit)
        expect(told.at(-1)?.content.endsWith(newest)).toBe(true)
        for (const [index, { role }] of told.entries()) expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant')
      }),
    )
  })
})

describe('title', () => {
  verifies('contract-4.title', 'whole words, at most 60 characters', () => {
    expect(deriveTitle('  How do\n I  cook rice? ')).toBe('How do I cook rice?')
    const words = Array.from({ length: 30 }, () => 'word').join(' ')
    expect(deriveTitle(words)).toBe(Array.from({ length: 12 }, () => 'word').join(' '))
    expect(deriveTitle(`${'x'.repeat(30)} ${'y'.repeat(29)} z`)).toBe(`${'x'.repeat(30)} ${'y'.repeat(29)}`)
    expect(deriveTitle('x'.repeat(100))).toBe('x'.repeat(60))
    expect(deriveTitle('😀'.repeat(100))).toBe('😀'.repeat(60))
    expect(deriveTitle(' \n ')).toBeNull()
  })
  verifies('contract-35.titles', 'control characters divide words, and are in no title', () => {
    expect(deriveTitle('\u0000a\u001b[31mb\u0007 \u0085c\u007fd')).toBe('a [31mb c d')
    expect(deriveTitle('\u0000\u0007')).toBeNull()
  })
  test('every title is a beginning of the text, with single spaces', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const title = deriveTitle(text)
        if (title === null) {
          expect(text.replace(/\p{Cc}/gu, ' ').trim()).toBe('')
          return
        }
        expect([...title].length).toBeLessThanOrEqual(60)
        expect(
          text
            .trim()
            .split(/[\s\p{Cc}]+/u)
            .filter((word) => word !== '')
            .join(' ')
            .startsWith(title),
        ).toBe(true)
      }),
    )
  })
})

describe('clean text', () => {
  verifies(
    'contract-4.clean-text',
    'U+0000 and half pairs become U+FFFD, a pair split over two deltas is joined',
    () => {
      expect(cleanText('a\0b\ud83dc\ude00')).toBe('a\ufffdb\ufffdc\ufffd')
      const cleaner = createTextCleaner()
      expect([cleaner.push('a\ud83d'), cleaner.push('\ude00b'), cleaner.push('c\ud83d'), cleaner.end()]).toEqual([
        ...['a', '😀b', 'c', '\ufffd'],
      ])
    },
  )
  test('every text comes out clean, and the same however it was split', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
    fc.assert(
      fc.property(units, fc.array(fc.integer({ min: 0, max: 30 })), (codes, cuts) => {
        const whole = String.fromCharCode(...codes)
        const cleaner = createTextCleaner()
        const places = [0, ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length]
        const pieces = places.slice(1).map((end, index) => cleaner.push(whole.slice(places[index], end)))
        const split = pieces.join('') + cleaner.end()
        expect(split).toBe(cleanText(whole))
        expect(split.isWellFormed() && !split.includes('\0')).toBe(true)
      }),
    )
  })
})
