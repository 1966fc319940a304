/** Every refusal becomes the client's own class of error, with the server's words. */
import { expect } from 'vitest'
import { nobody } from '../../http/scene.ts'
import type { RequirementId } from '../../requirements/requirements.ts'
import { verifies } from '../../verifies.ts'
import type { Ask, Told } from '../driver.ts'
import { ask, type Play } from '../play.ts'
import type { Row } from '../rows.ts'

/** Class, status where the client tells it, and whether the server's words reach the caller. */
export function errorCell({ error }: Told, words: RegExp): string {
  if (error === null) return 'no error'
  const status = error.status === null ? ', no status' : ''
  if (words.test(error.message)) return `\`${error.name}\`${status}`
  const where = words.test(error.body ?? '') ? 'the server’s words in `responseBody`' : 'without the server’s words'
  return `\`${error.name}\`${status}, ${where}`
}

interface Refusal {
  row: Row
  rule: RequirementId
  status: number
  words: RegExp
  change(good: Ask): Ask
}

// One that no client has to fetch.
const image = { type: 'image' as const, url: `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\n')}` }

const refusals: Refusal[] = [
  {
    row: 'wrongKey',
    rule: 'spec-5.1.bearer',
    status: 401,
    words: /key/i,
    change: (good) => ({ ...good, apiKey: 'wrong' }),
  },
  {
    row: 'noAgent',
    rule: 'spec-7.1.errors',
    status: 404,
    words: /no such/,
    change: (good) => ({ ...good, baseURL: good.baseURL.replace(/[0-9a-f-]{36}(?!.*[0-9a-f-]{36})/, nobody) }),
  },
  {
    row: 'system',
    rule: 'spec-7.1.errors',
    status: 400,
    words: /system/,
    change: (good) => ({ ...good, messages: [{ role: 'system', content: 'Be nice.' }, ...good.messages] }),
  },
  {
    row: 'image',
    rule: 'contract-3.request',
    status: 400,
    words: /content/,
    change: (good) => ({ ...good, messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, image] }] }),
  },
]

export function failures({ kind, scene, driver, record }: Play): void {
  const baseUrl = () => scene().baseUrl(kind)

  for (const { row, rule, status, words, change } of refusals) {
    verifies(rule, `${row}: streamed or not, the caller gets the same error once`, async () => {
      const refused = change(ask(await baseUrl(), 'hi', { retries: 1 }))
      const before = scene().asked.length
      const called = scene().up.calls.length
      const told = await driver.whole(refused)
      const cell = errorCell(told, words)
      expect(told.error?.status ?? status).toBe(status)
      expect(errorCell(await driver.stream(refused), words)).toBe(cell)
      expect(scene().asked.slice(before)).toEqual([{ status }, { status }])
      expect(scene().up.calls).toHaveLength(called)
      record(row, cell)
    })
  }

  verifies('contract-3.error-chunk', 'a stream that fails in the middle throws, after what there was', async () => {
    const called = scene().up.calls.length
    scene().up.next(async (call) => {
      await call.text('so far')
      call.end()
    })
    const told = await driver.stream(ask(await baseUrl(), 'hi', { retries: 1 }))
    expect([told.text, scene().up.calls.length - called]).toEqual(['so far', 1])
    expect(told.error).not.toBeNull()
    record('broken', errorCell(told, /provider|connection/i))
  })
}
