/** Search in messages over HTTP: what is found, by whom, in which order. */
import { afterAll, expect } from 'vitest'
import { nobody, openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { allIndexed, asMessages, inTime } from './support.ts'

const KEY = 'deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: KEY } })
afterAll(scene.close)

const key = { authorization: `Bearer ${KEY}` }
const until = async (holds: () => Promise<boolean>) => await expect.poll(holds).toBe(true)
const search = (query: string, headers: Record<string, string> = key) =>
  inTime(() => scene.call('GET', `${scene.sessions}/search?${query}`, undefined, headers))
const given = async (texts: string[], body: object = {}): Promise<string> => {
  return (await scene.call('POST', scene.sessions, { ...body, messages: asMessages(texts) }, key)).json.id
}
const indexed = () => allIndexed(scene.app.sql)
const found = async (q: string, more = '', headers = key): Promise<string[]> => {
  const { status, json, text } = await search(`q=${encodeURIComponent(q)}${more}`, headers)
  expect([q, status, status === 200 ? '' : text]).toEqual([q, 200, ''])
  return json.results.map(({ session }: { session: { id: string } }) => session.id)
}

verifies(
  'contract-31.search-words',
  'words by their beginning, phrases, runs; case, accents and forms make no difference',
  async () => {
    const a = await given(['Das Café am Fluß, MÜNCHEN', 'İstanbul ve ılık çay'])
    const b = await given(['北京大学的学生', '東京タワーは高い', 'สวัสดีครับ', '안녕하세요 세계'])
    const c = await given(['the quick brown fox', 'quick the fox'])
    await indexed()
    for (const [q, ids] of [
      ['cafe', [a]],
      ['CAFÉ munch', [a]],
      ['cafe\u0301', [a]],
      ['fluss', [a]],
      ['istanbul ILIK', [a]],
      ['cafe cay', []],
      ['afe', []],
      ['大学', [b]],
      ['京', [b]],
      ['学大', []],
      ['タワ', [b]],
      ['สดี', [b]],
      ['안녕'.normalize('NFD'), [b]],
      ['"quick brown"', [c]],
      ['"brown quick"', []],
      ['"quick bro"', []],
      ['"the quick brown', [c]],
      ['fox & | ! <-> quick:*', [c]],
      ["fox' \\", [c]],
    ] as const)
      expect([q, await found(q)]).toEqual([q, ids])
  },
)

verifies(
  'contract-31.search-refusals',
  'another q, limit or cursor is 400; other methods are 405; secrets search their user',
  async () => {
    for (const query of [
      '',
      'q=',
      'q=a&q=b',
      `q=${'a'.repeat(201)}`,
      'q=%2D%2D',
      `q=${'a%20'.repeat(11)}`,
      'q=a&limit=0',
      'q=a&limit=51',
      'q=a&limit=x',
      'q=a&cursor=abc',
      'q=a&cursor=',
      'q=a&other=1',
    ])
      expect([query, (await search(query)).status]).toEqual([query, 400])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect([method, (await scene.call(method, `${scene.sessions}/search`, undefined, key)).status]).toEqual([
        method,
        405,
      ])
    expect(
      (await scene.call('GET', `/api/v1/agents/${nobody}/deploy/sessions/search?q=a`, undefined, key)).status,
    ).toBe(404)
    const mine = await given(['lighthouse of mine'], { user: 'ann' })
    const others = await given(['lighthouse of others'], { user: 'eve' })
    await indexed()
    const secretOf = async (body: object) => ({
      authorization: `Bearer ${(await scene.call('POST', `${scene.agent}/deploy/client_secrets`, body, key)).json.value}`,
    })
    const ann = await secretOf({ user: 'ann' })
    expect(await found('lighthouse', '', ann)).toEqual([mine])
    expect(await found('lighthouse', '&user=ann', ann)).toEqual([mine])
    expect((await search('q=lighthouse&user=eve', ann)).status).toBe(403)
    expect((await search('q=lighthouse', await secretOf({ user: 'ann', session_id: mine }))).status).toBe(403)
    expect(await found('lighthouse')).toEqual([others, mine])
    expect(await found('lighthouse', '&user=eve')).toEqual([others])
    const share = await scene.call('POST', `${scene.sessions}/${mine}/shares`, {}, key)
    expect((await search('q=lighthouse', { authorization: `Bearer ${share.json.token}` })).status).toBe(403)
    await scene.call('DELETE', `${scene.sessions}/${mine}`, undefined, key)
    expect(await found('lighthouse')).toEqual([others])
  },
)

verifies(
  'contract-31.search-order',
  'the newest match decides, pages repeat and omit nothing, snippets are marked',
  async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1)
      ids.push(await given([`zebra ${n}`, `zebra again ${n}`, `zebra ${'x '.repeat(300)}zebra`, 'zebra 4', 'none']))
    await indexed()
    const pages: string[] = []
    let cursor = ''
    for (let next: string | null = ''; next !== null; cursor = `&cursor=${next}`) {
      const { json } = await search(`q=zebra&limit=2${cursor}`)
      pages.push(...json.results.map(({ session }: { session: { id: string } }) => session.id))
      next = json.next
      if (next !== null) expect(json.results).toHaveLength(2)
    }
    expect(pages).toEqual(ids.toReversed())
    const { json } = await search('q=zebra&limit=1')
    expect(json.complete).toBe(true)
    const [{ session, snippets }] = json.results
    expect(session).toEqual((await scene.call('GET', `${scene.sessions}/${session.id}`, undefined, key)).json)
    expect(snippets).toHaveLength(3)
    for (const { text, marks } of snippets) {
      expect(text.length).toBeLessThanOrEqual(240)
      expect(marks.length).toBeGreaterThan(0)
      for (const [from, to] of marks) expect(text.slice(from, to)).toBe('zebra')
    }
  },
)

verifies(
  'contract-31.search-soon',
  'a message and its reply are found once they have come, by those who may',
  async () => {
    scene.says(['A walrus answers.'])
    const id = (await scene.call('POST', scene.sessions, {}, key)).json.id
    await scene.send(id, 'Is there a narwhal?', {}, key)
    await until(async () => (await found('narwhal')).length === 1 && (await found('walrus')).length === 1)
    const { json } = await search('q=walrus')
    expect(json.results[0].snippets[0]).toMatchObject({ role: 'assistant', text: 'A walrus answers.', marks: [[2, 8]] })
  },
)

verifies('contract-31.search-words', 'archived sessions are found with the others, alone, or not at all', async () => {
  const [open, archived] = [await given(['a heron stands']), await given(['a heron flies'])]
  await scene.call('PATCH', `${scene.sessions}/${archived}`, { archived: true }, key)
  await indexed()
  expect((await found('heron')).sort()).toEqual([open, archived].sort())
  expect(await found('heron', '&archived=true')).toEqual([archived])
  expect(await found('heron', '&archived=false')).toEqual([open])
})
