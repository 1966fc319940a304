/**
 * Sessions that wait cost no memory and no start time: they are rows. WAITING_SESSIONS sets how many wait: 400, every night
 * 1,000.
 */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, vi } from 'vitest'
import { demoAgent, type Product, startProduct } from '../support/product.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'

vi.setConfig({ testTimeout: 600_000 })

const SESSIONS = Number(process.env.WAITING_SESSIONS ?? samples(400, 1000))
/** What the first of them load is no growth. */
const FIRST = 100
const AT_A_TIME = 48
const MB = 1024 * 1024
/** A leak of 8 KB a session would show. */
const MAY_GROW = SESSIONS * 8 * 1024

/** On SIGUSR2 the product prints its heap size after a garbage collection. */
const probe = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2',()=>{gc();gc();process.stderr.write('heap '+process.memoryUsage().heapUsed+'\\n')})",
)}`

async function heapOf({ pid, stderr }: Product): Promise<number> {
  const said = () => stderr.filter((line) => line.startsWith('heap '))
  const before = said().length
  process.kill(pid, 'SIGUSR2')
  await expect.poll(() => said().length).toBe(before + 1)
  return Number(said().at(-1)?.slice('heap '.length))
}

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

verifies('contract-15.waiting', 'sessions that wait keep no actor and no memory', async () => {
  await using product = await startProduct({ direct: true, nodeArgs: ['--expose-gc', '--import', probe] })
  const { client, url } = product
  await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: demoAgent } },
    body: { builtInToolIds: ['current_time'], approvals: '*' },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })
  let left = FIRST
  const ask = async () => {
    while (left-- > 0) {
      await post(`${url}/api/v1/agents/${demoAgent}/playground/chat`, agent, { message: '/tool current_time {}' })
    }
  }
  const all = () => Promise.all(Array.from({ length: AT_A_TIME }, ask))
  const actors = async () => (await client.GET('/api/v1/debug/actors')).data?.actors.length
  await all()
  await expect.poll(actors, { interval: 250 }).toBe(0)
  const atStart = await heapOf(product)
  left = SESSIONS
  await all()
  agent.destroy()
  const { data } = await client.GET('/api/v1/sessions', { params: { query: { status: 'waiting', limit: 1 } } })
  expect(data?.total).toBe(FIRST + SESSIONS)
  await expect.poll(actors, { interval: 250 }).toBe(0)
  const grown = (await heapOf(product)) - atStart
  console.log(`${SESSIONS} sessions wait: the heap has grown by ${(grown / MB).toFixed(1)} MB`)
  expect(grown).toBeLessThan(MAY_GROW)
})
