/** Contract section 28: a replay on two instances, of which each is killed once while it runs. */
import { afterEach, beforeEach, expect } from 'vitest'
import { asks, look, says, startToolServer } from '../http/tool-scene.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession, postJson } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { completions, openScene, type Scene, say } from './scene.ts'

const QUESTIONS = 50
const CONCURRENCY = 4

let scene: Scene
let tools: Awaited<ReturnType<typeof startToolServer>>
// Each try has a world of its own.
beforeEach(async () => {
  tools = await startToolServer(() => 'seen')
  scene = await openScene({ instances: 2 })
})
afterEach(async () => {
  await scene?.close()
  await tools?.[Symbol.asyncDispose]()
})

async function send(path: string, method: string, body?: object) {
  const headers = { 'content-type': 'application/json' }
  const init = { method, ...(body && { headers, body: JSON.stringify(body) }) }
  const answers = scene.cluster.urls.map((url) => fetch(`${url}${path}`, init))
  return Object(await (await Promise.any(method === 'GET' ? answers : answers.slice(0, 1))).json())
}

verifies(
  ['contract-28.replay-lost', 'contract-28.replay-acts-not'],
  'two instances are killed: each case ends once, and the model is asked nothing of one that has ended',
  async () => {
    const [first = ''] = scene.cluster.urls
    const agent = `/api/v1/agents/${scene.agent}`
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } } }
    const tool = { name: 'look', description: 'Looks.', method: 'GET', url: `${tools.url}/`, inputSchema }
    const { id } = await send('/api/v1/http-tools', 'POST', tool)
    await send(`${agent}/tools`, 'PUT', { httpToolIds: [id] })
    const asked: string[] = []
    const again: string[] = []
    let replayId = ''
    let gate = Promise.resolve()
    let held = 0
    scene.up.always(async (call: UpstreamCall) => {
      const question = call.body.messages.find(({ role }: { role: string }) => role === 'user').content
      if (replayId !== '') {
        asked.push(question)
        const [ended] = await scene.cluster.database.sql`
          select status from replay_cases
           where replay_id = ${replayId} and question = ${question} and status not in ('pending', 'running')`
        if (ended) again.push(question)
        held += 1
        await Promise.race([gate, call.closed])
        held -= 1
      }
      await (call.body.messages.at(-1).role === 'tool' ? says('Done.') : asks('', look(question, 'c1')))(call)
    })
    for (let n = 0; n < QUESTIONS; n += 1) {
      const session = await newSession(first, scene.agent)
      expect((await postJson(completions(first, session), say(`question ${n}`, false))).status).toBe(200)
    }
    expect(tools.requests).toHaveLength(QUESTIONS)

    const { version } = await send(agent, 'GET')
    // Requests before the id is known count for nothing. An instance that stood still for its lease takes nothing for a while.
    const wish = { version, replies: {}, concurrency: CONCURRENCY }
    const create = async () => {
      const { id = '' } = await send(`${agent}/replays`, 'POST', wish)
      replayId = id
      return id
    }
    await expect.poll(create).not.toBe('')
    const path = `${agent}/replays/${replayId}?limit=200`
    await expect.poll(() => asked.length, { interval: 5 }).toBeGreaterThan(10)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    gate = released
    // All that run are under way, on whichever instance: each of them is lost, some maybe twice.
    await expect.poll(() => held).toBe(CONCURRENCY)
    for (const victim of [0, 1]) {
      await scene.cluster.kill9(victim)
      await scene.cluster.restart(victim)
    }
    release()
    await expect.poll(async () => (await send(path, 'GET')).status, { timeout: 90_000 }).toBe('complete')
    const { counts, cases, usage, createdAt, endedAt } = await send(path, 'GET')
    expect(counts).toMatchObject({ total: QUESTIONS, complete: QUESTIONS, running: 0, pending: 0 })
    expect(new Set(cases.map(({ new: { content } }: { new: { content: string } }) => content))).toEqual(
      new Set(['Done.']),
    )
    expect(again).toEqual([])
    const ms = Date.parse(endedAt) - Date.parse(createdAt)
    console.log(`${QUESTIONS} cases in ${ms} ms, ${asked.length} requests, ${JSON.stringify(usage)}`)
    expect(asked.length, 'cases were lost, and begun anew').toBeGreaterThan(2 * QUESTIONS)
    expect(tools.requests).toHaveLength(QUESTIONS)
  },
  { timeout: 300_000 },
)
