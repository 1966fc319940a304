/** Contract section 8: what was used is counted for every reply that ended, and told by agent, model and day. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { foldUsage } from '../../../../src/features/limits/store/usage/usage.ts'
import { createUsageRecorder } from '../../../../src/features/limits/store/usage/usage-recorder.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { openProxy } from '../../../faults/database/database-proxy.ts'
import { openScene } from '../../../http/scene.ts'
import { createAgent, endSharedApps } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'

beforeAll(endSharedApps)

const scene = await openScene({ settings: {}, reportsUsage: false })
afterAll(scene.close)
beforeEach(() => scene.app.sql`delete from token_usage`)

const usage = { prompt_tokens: 7, completion_tokens: 5 }
const report = async (query = '') => (await scene.call('GET', `/api/v1/usage${query}`)).json
const rows = async (query = '') => (await report(query)).rows
const counted = (replies: number, promptTokens: number, completionTokens: number, estimated = false) => ({
  replies,
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens,
  ...{ cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, replays: 0, feedbackUp: 0, feedbackDown: 0 },
  estimated,
})

verifies('contract-8.usage', 'replies in sessions, stateless and playground ones count alike', async () => {
  scene.says(['ok'], { usage })
  await scene.send(await scene.newSession(), 'a')
  await scene.stateless([{ role: 'user', content: 'b' }])
  await scene.call('POST', `${scene.agent}/playground/chat`, { message: 'c' })
  await expect.poll(() => rows()).toEqual([{ key: scene.agentId, ...counted(3, 21, 15) }])
  expect(await rows('?groupBy=model')).toEqual([{ key: 'test-model', ...counted(3, 21, 15) }])
  const today = new Date().toISOString().slice(0, 10)
  expect(await rows('?groupBy=day')).toEqual([{ key: today, ...counted(3, 21, 15) }])
})

verifies('contract-8.usage', 'whoever has a stateless reply finds it counted', async () => {
  scene.says(['ok'], { usage })
  for (let n = 1; n <= 5; n++) {
    await scene.stateless([{ role: 'user', content: 'x' }])
    expect(await rows()).toEqual([{ key: scene.agentId, ...counted(n, 7 * n, 5 * n) }])
  }
})

/** Until the tokenizer's thread has started, which a busy machine may take seconds for, length stands for a count. */
async function tokenizerStarted(): Promise<void> {
  await expect
    .poll(async () => {
      await scene.app.sql`delete from token_usage`
      scene.says(['some words'])
      await scene.send(await scene.newSession(), 'x')
      return (await rows())[0]?.completionTokens
    })
    .toBe(2)
  await scene.app.sql`delete from token_usage`
}

verifies('contract-8.usage', 'whatever the ending: failed, cancelled, left, deleted', async () => {
  await tokenizerStarted()
  scene.up.always(async (one) => {
    await one.text('some words')
    one.end()
  })
  await scene.send(await scene.newSession(), 'fails')
  for (const stop of ['cancel', 'delete', 'leave'] as const) {
    const next = scene.byHand()
    const id = await scene.newSession()
    const stream = await (stop === 'leave' ? scene.statelessStream('stops') : scene.stream(id, 'stops'))
    await (await next).text('some words')
    for (let frame = await stream.next(); !frame?.data.includes('some words'); ) frame = await stream.next()
    if (stop === 'cancel') await scene.cancel(id)
    if (stop === 'delete') await scene.call('DELETE', `${scene.sessions}/${id}`)
    if (stop === 'leave') stream.leave()
  }
  await expect.poll(() => rows()).toMatchObject([{ replies: 4, completionTokens: 8, estimated: true }])
})

verifies('contract-8.usage', 'a cancelled reply has its tokens counted, and marked as estimated', async () => {
  await tokenizerStarted()
  const next = scene.byHand()
  const id = await scene.newSession()
  const stream = await scene.stream(id, 'hello world')
  await (await next).text('The quick brown fox jumps over the lazy dog.')
  for (let frame = await stream.next(); !frame?.data.includes('lazy'); ) frame = await stream.next()
  await scene.cancel(id)
  const stored = () => scene.app.sql`
    select prompt_tokens, completion_tokens, usage_estimated from messages m join sessions s on s.id = m.session_id
     where s.id = ${id} and role = 'assistant'`
  await expect.poll(stored).toEqual([{ prompt_tokens: 2, completion_tokens: 10, usage_estimated: true }])
})

verifies('contract-8.usage', 'of a lost reply four characters count as a token', async () => {
  const { sql } = scene.app
  const [reply] = await sql<{ lost: string | null }[]>`
    with s as (insert into sessions (agent_id) values (${scene.agentId}) returning id, num),
         u as (insert into messages (id, session_id, position, role, status, content)
               select gen_random_uuid(), id, 0, 'user', 'complete', '12345678' from s),
         f as (insert into frame_runs (session_num, seq, part, seqs, parts, texts) select num, 2, 0, '{2}', '{0}', '{1234}' from s)
    insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage,
                          instance_id, epoch)
    select gen_random_uuid(), id, 1, 'assistant', 'streaming', num, 'test-model', 1, false, gen_random_uuid(), 1 from s
    returning id as lost`
  await sql`select lose_replies(array[${reply?.lost ?? null}::uuid], gen_random_uuid())`
  expect(await rows()).toEqual([{ key: scene.agentId, ...counted(1, 2, 1, true) }])
})

verifies('contract-8.usage', 'from is included, to is not; both may be days or moments', async () => {
  const agentId = (await createAgent(scene.app)).agentId
  await scene.app.sql`
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
    select gen_random_uuid(), at, ${agentId}, 'm', 1, 1, 1, false
      from unnest('{2026-01-31T23:59:59Z,2026-02-01T00:00:00Z,2026-02-02T00:00:00Z}'::timestamptz[]) as at`
  const days = async (query: string) => (await rows(`?groupBy=day&${query}`)).map((row: { key: string }) => row.key)
  expect(await days('from=2026-01-31&to=2026-02-02')).toEqual(['2026-01-31', '2026-02-01'])
  expect(await days('from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00.001Z')).toEqual(['2026-02-01', '2026-02-02'])
  expect(await days('from=2026-02-01T02:00:00%2B02:00&to=2026-02-01T12:00')).toEqual(['2026-02-01'])
  expect(await report('?to=2026-02-01')).toMatchObject({ from: '2026-01-02T00:00:00.000Z' })
  expect(await report('?to=0001-01-09')).toMatchObject({ from: '0001-01-01T00:00:00.000Z' })
})

verifies('contract-8.usage', 'what is no moment, and an end before the start, is 400', async () => {
  for (const query of [
    ...['from=yesterday', 'from=2026-02-31', 'to=2026-13-01', 'to=2026-01-01T25:00Z', 'from=0000-01-01', 'from='],
    ...['to=0001-01-01T00:00%2B01:00', 'to=9999-12-31T23:59-01:00'],
    ...['from=2026-02-02&to=2026-02-01', 'from=2026-02-01T02:00:00+02:00', 'groupBy=week'],
  ]) {
    const { status, json } = await scene.call('GET', `/api/v1/usage?${query}`)
    expect([query, status, json]).toEqual([query, 400, { message: expect.stringMatching(/^(from|to|groupBy): /) }])
  }
})

test('a week later rows are folded to hours, and the sums stay', async () => {
  const { sql } = scene.app
  await sql`
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
    select gen_random_uuid(), '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute', ${scene.agentId}, 'm', 1, n,
           1, n % 2 = 0 from generate_series(0, 119) as n`
  const before = await rows('?from=2026-01-01&to=2026-01-02')
  await Promise.all([foldUsage(sql), foldUsage(sql)])
  await foldUsage(sql)
  expect(await rows('?from=2026-01-01&to=2026-01-02')).toEqual(before)
  // Two hours, with and without an estimate.
  expect(await sql`select 1 from token_usage`).toHaveLength(4)
})

const counts = { promptTokens: 1, completionTokens: 2, estimated: false }
const used = () => ({
  replies: 1 as const,
  id: crypto.randomUUID(),
  agentId: scene.agentId,
  model: 'm',
  endedAt: new Date(),
  usage: counts,
})

test('usage waits for a database that is away, and the same reply counts once', async () => {
  await using wire = await openProxy(scene.app.databaseUrl)
  const sql = connect(wire.url, { max: 1, name: 'test', timeoutMs: 0 })
  const warned: string[] = []
  const recorder = createUsageRecorder({ sql, log: { warn: (_, message) => warned.push(message) } })
  wire.refuse()
  const once = used()
  recorder.record(once)
  await expect.poll(() => warned).not.toEqual([])
  wire.restore()
  recorder.record(once)
  recorder.record(used())
  await expect.poll(() => rows()).toEqual([{ key: scene.agentId, ...counted(2, 2, 4) }])
  await recorder.close()
  await sql.end()
})

test('who asks waits for what has ended, not for what ends meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }) // of what is gathered, only that which is asked for goes
  onTestFinished(() => void vi.useRealTimers())
  const recorder = createUsageRecorder({ sql: scene.app.sql, log: { warn() {} } })
  recorder.record(used())
  const stored = recorder.stored()
  await new Promise((resolve) => setImmediate(resolve))
  recorder.record(used())
  await stored
  expect(await scene.app.sql`select 1 from token_usage`).toHaveLength(1)
  await recorder.close()
  expect(await scene.app.sql`select 1 from token_usage`).toHaveLength(2)
})

test('what can never be stored keeps no other from being counted', async () => {
  const warned: string[] = []
  const recorder = createUsageRecorder({ sql: scene.app.sql, log: { warn: (_, message) => warned.push(message) } })
  recorder.record({ ...used(), model: '\0' })
  recorder.record(used())
  await recorder.close()
  expect(await rows()).toEqual([{ key: scene.agentId, ...counted(1, 1, 2) }])
  expect(warned).toEqual(['Usage of a reply cannot be stored.'])
})
