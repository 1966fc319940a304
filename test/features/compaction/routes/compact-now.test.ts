/** Contract section 19: summaries that somebody asks for, and the list of them. */
import { afterAll, beforeEach, expect } from 'vitest'
import { nobody, openScene, uuid } from '../../../http/scene.ts'
import type { UpstreamCall } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene({ system: 'Be brief.' })
afterAll(scene.close)

const messagesOf = ({ body }: UpstreamCall): { role: string; content: string }[] => body.messages
const newest = () => scene.up.calls.at(-1) as UpstreamCall
const isSummary = (call: UpstreamCall): boolean =>
  messagesOf(call).at(-1)?.content.startsWith('Summarise the conversation above.') === true

const answers = async (call: UpstreamCall) => {
  await call.text(isSummary(call) ? 'They counted.' : 'Fine.')
  return call.finish('stop', { prompt_tokens: 7, completion_tokens: 3 }, true)
}

let sessionId = ''
beforeEach(async () => {
  scene.up.always(answers)
  sessionId = await scene.newSession()
})

const path = (id = sessionId) => `${scene.sessions}/${id}`
const playground = (id = sessionId) => `${scene.agent}/playground/sessions/${id}`
const compact = (id = sessionId) => scene.call('POST', `${path(id)}/compact`)
const checkpoints = async (id = sessionId) => (await scene.call('GET', `${path(id)}/checkpoints`)).json

async function talk(turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) expect((await scene.send(sessionId, `count to ${n}`)).status).toBe(200)
}

/** The next summary is held open; all else is answered. */
function heldSummary() {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.always((call) => (isSummary(call) ? resolve(call) : answers(call)))
  return promise
}

verifies('contract-19.compact', 'the older turns are summarised, and later replies are sent that', async () => {
  await talk(4)
  const before = await scene.messages(sessionId)
  const { status, json } = await compact()
  expect(status).toBe(200)
  expect(json).toEqual({
    id: expect.stringMatching(uuid),
    through_message_id: before[5].id,
    summary: 'They counted.',
    created_at: expect.any(String),
    model: expect.any(String),
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  })
  const asked = messagesOf(newest())
  expect(asked[0]).toEqual({ role: 'system', content: 'Be brief.' })
  expect(asked.slice(1, -1).map(({ content }) => content)).toEqual(before.map(({ content }) => content))
  expect(await scene.messages(sessionId)).toEqual(before)
  await scene.send(sessionId, 'go on')
  const sent = messagesOf(newest()).slice(1)
  expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(sent[0]?.content).toMatch(/They counted\.[\s\S]*count to 3$/)
})

verifies(
  'contract-19.compact',
  'one turn can be summarised, an empty session and what is summarised cannot',
  async () => {
    const refused = await compact()
    expect([refused.status, refused.json.error.message]).toEqual([400, 'There is nothing to summarise.'])
    await talk(1)
    expect((await compact()).status).toBe(200)
    expect((await compact()).status).toBe(400)
    await scene.send(sessionId, 'go on')
    expect(messagesOf(newest()).slice(1)).toEqual([
      { role: 'user', content: expect.stringMatching(/They counted\.[\s\S]*go on$/) },
    ])
    expect((await compact(nobody)).status).toBe(404)
  },
)

verifies('contract-19.compact', 'it fails where there is no summary, and leaves nothing', async () => {
  await talk(1)
  scene.up.always((call) => call.error(400, { error: { message: 'not today' } }))
  const failed = await compact()
  expect(failed.status).toBe(500)
  expect(failed.json.error).toContain('not today')
  expect(failed.headers.get('x-should-retry')).toBe('false')
  expect(await checkpoints()).toEqual({ checkpoints: [] })
  scene.up.always(answers)
  expect((await compact()).status).toBe(200)
})

verifies('contract-19.compact', 'the session is held meanwhile, and shown as compacting', async () => {
  await talk(2)
  const summary = heldSummary()
  const compacting = compact()
  const call = await summary
  for (const refused of [await scene.send(sessionId, 'now'), await compact()]) {
    expect(refused.status).toBe(409)
    expect(refused.headers.get('x-should-retry')).toBe('false')
  }
  const [first] = await scene.messages(sessionId)
  expect((await scene.call('POST', `${path()}/head`, { message_id: first.id })).status).toBe(409)
  const { actors } = (await scene.call('GET', '/api/v1/debug/actors')).json
  const own = actors.filter((actor: { sessionId: string }) => actor.sessionId === sessionId)
  expect(own[0]).toMatchObject({ state: 'streaming.compacting' })
  await answers(call)
  expect((await compacting).status).toBe(200)
  expect((await scene.send(sessionId, 'now')).status).toBe(200)
  const steps = (await scene.call('GET', `/api/v1/debug/sessions/${sessionId}/transitions?limit=200`)).json.transitions
  const taken = steps.map(({ from, event, to }: Record<string, string>) => `${from} ${event} ${to}`)
  expect(taken).toContain('complete compact streaming.compacting')
  expect(taken).toContain('streaming.compacting compacted complete')
})

verifies('contract-19.compact', 'it is refused while a reply runs', async () => {
  await talk(1)
  const byHand = scene.byHand()
  const reply = await scene.stream(sessionId, 'slowly')
  const call = await byHand
  expect((await compact()).status).toBe(409)
  await call.text('Fine.')
  await call.finish()
  await reply.rest()
  scene.up.always(answers)
  expect((await compact()).status).toBe(200)
})

verifies('contract-19.compact', 'a cancel ends it, and an interrupting message goes before it', async () => {
  await talk(1)
  for (const end of [() => scene.cancel(sessionId), () => scene.send(sessionId, 'instead', { on_busy: 'interrupt' })]) {
    const summary = heldSummary()
    const compacting = compact()
    const call = await summary
    expect((await end()).status).toBeLessThan(300)
    await call.closed
    expect(call.abandoned).toBe(true)
    expect((await compacting).status).toBe(500)
  }
  expect(await checkpoints()).toEqual({ checkpoints: [] })
})

verifies('contract-19.compact', 'the deletion of the session ends it', async () => {
  await talk(1)
  const summary = heldSummary()
  const compacting = compact()
  const call = await summary
  expect((await scene.call('DELETE', path())).status).toBe(204)
  await call.closed
  expect(call.abandoned).toBe(true)
  expect((await compacting).status).toBe(404)
})

verifies('contract-19.compact', 'what an instance held that was lost holds nothing', async () => {
  await talk(1)
  const lost = { id: nobody, instance_id: nobody, epoch: 1 }
  await scene.app.sql`update sessions set compaction = ${JSON.stringify(lost)}::text::jsonb where id = ${sessionId}`
  expect((await scene.send(sessionId, 'go on')).status).toBe(200)
  await scene.app.sql`update sessions set compaction = ${JSON.stringify(lost)}::text::jsonb where id = ${sessionId}`
  expect((await compact()).status).toBe(200)
})

verifies('contract-19.compact', 'its tokens are counted, and no reply is', async () => {
  await talk(1)
  const used = async () => {
    const { rows } = (await scene.call('GET', '/api/v1/usage?groupBy=agent')).json
    return rows.find(({ key }: { key: string }) => key === scene.agentId)
  }
  const before = await used()
  await compact()
  expect(await used()).toMatchObject({ replies: before.replies, promptTokens: before.promptTokens + 7 })
})

verifies('contract-19.checkpoints', 'they are listed on both paths, oldest first', async () => {
  await talk(4)
  const first = (await compact()).json
  await talk(3)
  const second = (await scene.call('POST', `${playground()}/compact`)).json
  expect(second).toMatchObject({ throughMessageId: expect.stringMatching(uuid), usage: { promptTokens: 7 } })
  const { checkpoints: listed } = await checkpoints()
  expect(listed).toEqual([
    first,
    expect.objectContaining({ id: second.id, through_message_id: second.throughMessageId }),
  ])
  expect((await scene.call('GET', `${playground()}/checkpoints`)).json.checkpoints[1]).toEqual(second)
  expect((await scene.call('GET', `${path(nobody)}/checkpoints`)).status).toBe(404)
})

verifies('contract-19.checkpoints', 'a fork has those of its path, and its replies are sent them', async () => {
  await talk(4)
  const { json: made } = await compact()
  const messages = await scene.messages(sessionId)
  const forkTo = async (message_id: string, frame_id?: number) =>
    (await scene.call('POST', scene.sessions, { fork_of: { session_id: sessionId, message_id, frame_id } })).json.id
  const whole = await forkTo(messages.at(-1).id)
  const { checkpoints: copies } = await checkpoints(whole)
  expect(copies).toEqual([{ ...made, id: expect.any(String), through_message_id: expect.any(String) }])
  expect(copies[0].through_message_id).toBe((await scene.messages(whole))[5].id)
  await scene.send(whole, 'go on')
  expect(messagesOf(newest())[1]?.content).toMatch(/They counted\.[\s\S]*count to 3$/)
  const earlier = await forkTo(messages[1].id)
  expect(await checkpoints(earlier)).toEqual({ checkpoints: [] })
  await scene.send(earlier, 'go on')
  expect(messagesOf(newest())[1]?.content).toBe('count to 0')
  // It covers the reply that is copied in part, and would tell the rest.
  const [covered] = await scene.app.sql<{ frame: number }[]>`
    select first_seq::integer as frame from messages where id = ${made.through_message_id}`
  expect(await checkpoints(await forkTo(made.through_message_id, covered?.frame))).toEqual({ checkpoints: [] })
})
