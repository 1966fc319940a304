/** Webhooks with a receiver that fails at random, and an instance that is killed (contract section 22). */
import { expect } from 'vitest'
import { createAgent } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { startReceiver } from '../support/network/receiver.ts'
import { newSession, type Product, postJson, startProduct } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'

const REPLIES = samples(300, 1000)
const AT_ONCE = 20
/** How often the receiver fails, in one way or another. */
const FAILS = 0.3

const say = (content: string) => ({ messages: [{ role: 'user', content }] })

async function hook(product: Product, url: string): Promise<string> {
  const body = { name: url, url, events: ['reply.completed', 'reply.failed', 'reply.cancelled'] }
  const made = await postJson(`${product.url}/api/v1/webhooks`, body)
  expect(made.status).toBe(201)
  return Object(await made.json()).id
}

/** So many replies in sessions of their own, on whichever instance answers. */
async function talk(products: readonly Product[], agent: string, count: number): Promise<void> {
  let left = count
  let asked = 0
  const work = async () => {
    while (left > 0) {
      const { url } = products[asked++ % products.length] ?? { url: '' }
      const session = await newSession(url, agent).catch(() => null)
      if (session === null) continue
      left--
      await postJson(`${url}${session}/chat/completions`, say('/long 5')).catch(() => null)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

verifies(
  ['contract-22.webhook-crash', 'contract-22.webhook-isolation'],
  'each ended reply is told at least once, whoever dies, and nothing that is not stored',
  async () => {
    const random = seededRandom('webhooks-crash')
    const database = await freshDatabase()
    const { sql } = database
    await using stack = new AsyncDisposableStack()
    stack.defer(() => database.drop())
    const receiver = stack.use(await startReceiver())
    const hanging = stack.use(await startReceiver())
    const taken: string[] = []
    hanging.answers(() => null)
    receiver.answers(({ json }) => {
      if (random() < FAILS) return random() < 0.5 ? 500 : 302
      taken.push(json.data.message_id)
      return 204
    })
    const env = { DATABASE_URL: database.url, SECRET_KEY: 'test-secret-key', OWNER_LEASE_MS: '2000' }
    const start = async () => stack.use(await startProduct({ direct: true, env }))
    const [first, second] = [await start(), await start()]
    const { agentId: agent } = await createAgent({ sql })
    const id = await hook(first, receiver.url)
    await hook(first, hanging.url)
    const talking = talk([first, second], agent, REPLIES)
    await expect.poll(() => taken.length).toBeGreaterThan(REPLIES / 4)
    await first.kill9()
    await talking
    const third = await start()
    await talk([second, third], agent, 20)
    // Second failures would wait for five minutes. What has just been claimed is left to its instance.
    const hurry = () => sql`
      update webhook_deliveries set next_attempt_at = clock_timestamp()
       where webhook_id = ${id} and status = 'pending' and next_attempt_at > clock_timestamp() + interval '40 seconds'`
    const pending = async () => {
      await hurry()
      const [row] = await sql<{ left: number }[]>`
        select count(*)::integer as left from webhook_deliveries where webhook_id = ${id} and status <> 'delivered'`
      return row?.left
    }
    await expect.poll(async () => await pending(), { timeout: 120_000, interval: 200 }).toBe(0)
    await expect.poll(async () => (await sql`select from messages where status = 'streaming'`).length).toBe(0)
    await expect.poll(async () => await pending(), { timeout: 120_000, interval: 200 }).toBe(0)
    const ended = await sql<{ id: string }[]>`
      select id from messages where first_seq is not null and status in ('complete', 'error') order by id`
    const recorded = await sql<{ id: string }[]>`
      select message_id as id from webhook_deliveries where webhook_id = ${id} order by message_id`
    // Twenty were sent at once when the instance died, and twenty after it.
    expect(ended.length).toBeGreaterThanOrEqual(REPLIES)
    expect(recorded.map((one) => one.id)).toEqual(ended.map((one) => one.id))
    expect([...new Set(taken)].toSorted()).toEqual(ended.map((one) => one.id))
    console.log(`${ended.length} replies, ${receiver.received.length} attempts, ${taken.length} taken`)
  },
  { timeout: 400_000 },
)
