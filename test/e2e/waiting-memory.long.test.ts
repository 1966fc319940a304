/**
 * Sessions that wait cost no memory and no start time: they are rows. WAITING_SESSIONS sets how many wait: 400, every night
 * 1,000.
 */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, vi } from 'vitest'
import { heapProbe, heldBy } from '../support/measures/heap.ts'
import { dataFolder, demoAgent, type Product, startProduct } from '../support/programs/product.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'

vi.setConfig({ testTimeout: 600_000 })

const SESSIONS = Number(process.env.WAITING_SESSIONS ?? samples(400, 1000))
/** What the first of them load is no growth. */
const FIRST = 100
/** The total that the list of sessions gives: it counts up to 10,000. */
const WAIT = Math.min(FIRST + SESSIONS, 10_000)
const AT_A_TIME = 48
const MB = 1024 * 1024
/** A leak of 8 KB a session would show. */
const MAY_GROW = SESSIONS * 8 * 1024

/** Over `node:http`: `fetch` would take three times as long. */
function post(url: string, agent: Agent, body: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } }
    const asking = request(url, options, (answer) => {
      text(answer).then(resolve, reject)
    })
    asking.on('error', reject)
    asking.end(JSON.stringify(body))
  })
}

/** The product on this folder, and how long it took to start (milliseconds). */
async function started(dataDir: string): Promise<{ product: Product; ms: number }> {
  const began = performance.now()
  const product = await startProduct({ direct: true, dataDir, nodeArgs: heapProbe })
  return { product, ms: Math.round(performance.now() - began) }
}

/** So many more sessions of the demo agent ask for something. */
async function makeWait({ client, url }: Product, sessions: number): Promise<void> {
  await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: demoAgent } },
    body: { builtInToolIds: ['current_time'], approvals: '*' },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })
  let left = sessions
  const ask = async () => {
    while (left-- > 0) {
      await post(`${url}/api/v1/agents/${demoAgent}/playground/chat`, agent, { message: '/tool current_time {}' })
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, ask))
  agent.destroy()
}

const waiting = async ({ client }: Product) =>
  (await client.GET('/api/v1/sessions', { params: { query: { status: 'waiting', limit: 1 } } })).data?.total
const actors = async ({ client }: Product) => (await client.GET('/api/v1/debug/actors')).data?.actors.length

verifies('contract-15.waiting', 'sessions that wait keep no actor and no memory, and delay no start', async () => {
  await using folder = await dataFolder()
  await (await started(folder.path)).product.stop() // makes the database
  const before = await started(folder.path)
  await using product = before.product
  const allRest = () => expect.poll(() => actors(product), { interval: 250 }).toBe(0)
  await makeWait(product, FIRST)
  await allRest()
  const atStart = (await heldBy(product)).heap
  await makeWait(product, SESSIONS)
  expect(await waiting(product)).toBe(WAIT)
  await allRest()
  const grown = (await heldBy(product)).heap - atStart
  await product.stop()
  const after = await started(folder.path)
  await using again = after.product
  expect([await waiting(again), await actors(again)]).toEqual([WAIT, 0])
  const grownAgain = (await heldBy(again)).heap - atStart
  const mb = (bytes: number) => (bytes / MB).toFixed(1)
  console.log(
    `${SESSIONS} sessions wait: the heap has grown by ${mb(grown)} MB, after a start by ${mb(grownAgain)} MB; ` +
      `started in ${before.ms} ms without them, in ${after.ms} ms with them`,
  )
  expect(Math.max(grown, grownAgain)).toBeLessThan(MAY_GROW)
})
