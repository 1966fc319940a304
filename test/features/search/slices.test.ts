/** Slices of signatures: what many messages say is found through them as by their rows. */
import { afterAll, expect } from 'vitest'
import { termsIn } from '../../../src/features/search/routes/run-search.ts'
import { type Candidate, candidatesOf } from '../../../src/features/search/store/candidates.ts'
import { scopeWords } from '../../../src/features/search/store/search-index.ts'
import { makeSlices, turned } from '../../../src/features/search/store/slices.ts'
import type { Tx } from '../../../src/persistence/postgres/database.ts'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { allIndexed, inTime } from './support.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)
const { sql } = scene.app

const found = async (q: string, more = ''): Promise<{ ids: string[]; next: string | null }> => {
  const { status, json, text } = await inTime(() =>
    scene.call('GET', `${scene.sessions}/search?q=${encodeURIComponent(q)}${more}`),
  )
  expect([q, status, status === 200 ? '' : text]).toEqual([q, 200, ''])
  return { ids: json.results.map(({ session }: { session: { id: string } }) => session.id), next: json.next }
}

/** Stores sessions of one message each as an earlier version would, and returns their ids, the newest first. */
async function store(texts: readonly string[], minutesAgo: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with said as (
      select gen_random_uuid() as id, text, n from unnest(${[...texts]}::text[]) with ordinality t(text, n)
    ), made as (
      insert into sessions (id, agent_id) select id, ${scene.agentId} from said order by n
    ), messages as (
      insert into messages (id, session_id, position, role, content, status, created_at)
      select gen_random_uuid(), id, 1, 'user', text, 'complete', now() - make_interval(mins => ${minutesAgo}, secs => -n / 100.0)
        from said
    )
    select id from said order by n desc`
  return rows.map(({ id }) => id)
}

/** Begins again, as for a database of an earlier version, and has what is searchable then in slices. */
async function indexAll(): Promise<void> {
  await sql`update signature_progress set changed = null, backlog = null`
  await allIndexed(sql)
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('signature_progress', 0))`
    await makeSlices(tx)
  })
}
const slices = async () => await sql<{ first: number }[]>`select first_num as first from signature_slices order by 1`

verifies(
  'contract-31.search-order',
  'words in several slices and behind them are found, the newest first',
  async () => {
    const texts = (from: number) =>
      Array.from({ length: 60 }, (_, n) => `word${from + n}x ${(from + n) % 20 === 7 ? 'heron' : 'other'}`)
    const old = await store(texts(0), 300)
    await indexAll()
    const later = await store(texts(60), 100)
    const older = await store(['an older heron'], 500)
    await indexAll()
    const latest = await store(texts(120), 50)
    await allIndexed(sql)
    expect(await slices()).toHaveLength(2)
    const all = [...latest, ...later, ...old]
    const herons = [...all.filter((_, n) => (179 - n) % 20 === 7), ...older]
    expect((await found('heron')).ids).toEqual(herons)
    const pages: string[] = []
    for (let next: string | null = ''; next !== null; ) {
      const page = await found('heron', `&limit=2${next === '' ? '' : `&cursor=${next}`}`)
      pages.push(...page.ids)
      next = page.next
    }
    expect(pages).toEqual(herons)
    for (const n of [17, 77, 179]) expect((await found(`word${n}x`)).ids).toEqual([all[179 - n]])
    expect((await found('word1x heron')).ids).toEqual([])
    await sql`delete from sessions where id = any(${[herons[0], herons.at(-1)]}::uuid[])`
    expect((await found('heron')).ids).toEqual(herons.slice(1, -1))
  },
)

verifies(
  'contract-31.search-soon',
  'slices are made once there are enough messages, and go with the last of theirs',
  async () => {
    await sql`delete from sessions`
    const before = await slices()
    const [one] = await store(['a gannet'], 10)
    await indexAll()
    expect((await slices()).filter(({ first }) => before.some((other) => other.first === first))).toEqual([])
    const [other] = await store(['another gannet'], 5)
    await sql`update signature_progress set changed = null, backlog = null`
    await allIndexed(sql)
    await sql`update signature_progress set changed = null, backlog = null, open_bytes = 1000000`
    await expect.poll(async () => (await slices()).length).toBe(2)
    expect((await found('gannet')).ids).toEqual([other, one])
  },
)

verifies('contract-31.search-words', 'slices say of each message what its signature says, of any size', async () => {
  const rows = [
    { n: 0, signature: Buffer.from('0100000000000080', 'hex') },
    { n: 9, signature: Buffer.from('01000000000000000000000000000002', 'hex') },
    { n: 10, signature: Buffer.alloc(64, 0xff) },
  ]
  const width = 128
  const slices = await turned(rows, { messages: 11, width })
  const bitsOf = (slice: number) => slices.readUInt16LE(slice * 2)
  expect([0, 1, 63, 64, 121, 127].map(bitsOf)).toEqual(
    [[0, 9, 10], [10], [0, 10], [0, 10], [9, 10], [0, 10]].map((has) => has.reduce((sum, n) => sum + 2 ** n, 0)),
  )
  const narrow = await turned(rows, { messages: 11, width: 64 })
  expect(narrow.readUInt16LE(57 * 2)).toBe(2 ** 9 + 2 ** 10)
})

verifies(
  'contract-31.search-order',
  'a word that most messages have is found in their order, a part of them at a time',
  async () => {
    await sql`delete from sessions`
    const texts = Array.from({ length: 700 }, (_, n) => `egret ${n}`)
    // Their times lie between one another's, in slices and behind them.
    await store(texts, 90)
    await indexAll()
    await store(texts, 90)
    await indexAll()
    await store(texts, 90)
    await allIndexed(sql)
    const rows = await sql<{ id: string }[]>`select id from messages order by created_at desc, id desc`
    const newestFirst = rows.map(({ id }) => id)
    const terms = termsIn('egret')
    const agentId = scene.agentId
    const asked = { terms, scope: scopeWords(agentId, null), isOfUser: false, filter: (tx: Tx) => tx`` }
    await sql.begin(async (tx) => {
      const reading = { tx, endsAt: performance.now() + 60_000 }
      const all: Candidate[] = []
      for await (const some of candidatesOf(reading, asked, null)) all.push(...some)
      expect(all.map(({ messageId }) => messageId)).toEqual(newestFirst)
      const ids: string[] = []
      for await (const some of candidatesOf(reading, asked, all[999] ?? null))
        ids.push(...some.map(({ messageId }) => messageId))
      expect(ids).toEqual(newestFirst.slice(1000))
    })
  },
)
