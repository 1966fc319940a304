/** An idle session costs no memory (design section 1: the rows are the durable state). */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { heapProbe, heldBy } from '../support/measures/heap.ts'
import { demoAgent, type Product, startProduct } from '../support/programs/product.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'

const SESSIONS = samples(1500, 10_000)
/** What the first replies load is no growth. */
const FIRST = 500
const AT_A_TIME = 48
const MB = 1024 * 1024
/** A leaked session of 3 KB would show. */
const MAY_GROW = SESSIONS * 3 * 1024

async function liveActors({ client }: Product): Promise<number> {
  const { data } = await client.GET('/api/v1/debug/actors')
  return data?.actors.length ?? -1
}

/** A new session and its first reply in one request, over `node:http`: `fetch` would take three times as long. */
function chat(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { agent, method: 'POST', headers: { 'content-type': 'application/json' } }
    const asking = request(`${url}/api/v1/agents/${demoAgent}/playground/chat`, options, (answer) => {
      text(answer).then(resolve, reject)
    })
    asking.on('error', reject)
    asking.end('{"message":"/long 3"}')
  })
}

verifies(
  'contract-8.actors',
  'after thousands of replies and a pause no actor lives and the heap has not grown',
  async () => {
    await using product = await startProduct({ direct: true, nodeArgs: heapProbe })
    const { url } = product
    let left = FIRST
    let most = 0
    let incomplete = 0
    const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })
    const talk = async () => {
      while (left-- > 0) {
        if (!(await chat(url, agent)).endsWith('data: [DONE]\n\n')) incomplete += 1
        if (left % 500 === 250) most = Math.max(most, await liveActors(product))
      }
    }
    const all = () => Promise.all(Array.from({ length: AT_A_TIME }, talk))
    await all()
    await expect.poll(() => liveActors(product)).toBe(0)
    const atStart = (await heldBy(product)).heap
    left = SESSIONS
    await all()
    agent.destroy()
    expect(incomplete).toBe(0)
    expect(most, 'actors live while they are at work').toBeGreaterThan(0)
    await expect.poll(() => liveActors(product), { interval: 250 }).toBe(0)
    const grown = (await heldBy(product)).heap - atStart
    console.log(
      `heap at the start ${(atStart / MB).toFixed(1)} MB, grown by ${(grown / MB).toFixed(1)} MB; most actors ${most}`,
    )
    expect(grown).toBeLessThan(MAY_GROW)
    expect(await product.stop()).toEqual({ code: 0, signal: null })
  },
)
