/** A Greenroom for a case: requests, SQL on its embedded database, and the resource use of its processes. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { deployUrl, newSession, type Product } from '../../test/support/programs/product.ts'
import { chatBody } from '../contenders/chat-completions.ts'
import { startGreenroom } from '../contenders/greenroom.ts'
import type { Checkout } from '../environment/checkout.ts'
import type { Ground } from '../environment/ground.ts'
import { cpuOf, memoryOf, type Use } from '../environment/processes.ts'
import type { Replies, RepliesJob } from '../load/replies.ts'
import type { Request } from '../load/request.ts'
import type { Ask } from '../runner/contender.ts'

export type GreenroomScene = AsyncDisposable & {
  readonly agentId: string
  /** URL of the agent's deploy API. */
  readonly deploy: string
  /** The address of its embedded database. */
  readonly databaseUrl: string
  readonly sql: Sql
  readonly product: Product
  readonly pids: readonly number[]
  /** Creates a session; resolves to its URL. */
  open(): Promise<string>
  /** Uses the given agent; without one, the scene's. */
  openMany(count: number, agent?: string): Promise<string[]>
  memory(): Promise<Use>
}

export const ask = (session: string, prompt: string, stream = true): Ask => ({
  url: `${session}/chat/completions`,
  body: chatBody(prompt, stream),
})

/** Returns the request that resumes a session. `after`: the last id seen. */
export const resume = (session: string, after?: number): Request => ({
  url: `${session}/chat/completions/stream`,
  ...(after === undefined ? {} : { headers: { 'last-event-id': `${after}` } }),
})

/** Beyond every id: the stream starts at the live end. */
export const LIVE_END = 2_000_000_000

/** Starts the scene. `nodeArgs`, `env`: additional arguments and variables of its process. */
export async function startScene(
  checkout: Checkout,
  ground: Ground,
  { nodeArgs = [], env = {} }: { nodeArgs?: string[]; env?: Record<string, string> } = {},
): Promise<GreenroomScene> {
  await using stack = new AsyncDisposableStack()
  const scene = stack.use(await ground.scene())
  const { products, agentId } = stack.use(await startGreenroom(checkout, scene, [env], nodeArgs))
  const [product] = products
  const { url, pid } = product
  const sockets = await readFile(join(scene.folder, 'postgres.sockets'), 'utf8')
  const databaseUrl = `postgres://greenroom@${encodeURIComponent(sockets)}/postgres`
  const sql = connect(databaseUrl, { name: 'bench', max: 2, timeoutMs: 0 })
  stack.defer(() => sql.end({ timeout: 1 }))
  const open = async (agent = agentId) => `${url}${await newSession(url, agent)}`
  const kept = stack.move()
  return {
    agentId,
    deploy: deployUrl(url, agentId),
    databaseUrl,
    sql,
    product,
    pids: [pid],
    open: () => open(),
    memory: () => memoryOf([pid]),
    async openMany(count, agent) {
      const sessions: string[] = []
      let left = count
      const opener = async () => {
        while (left-- > 0) sessions.push(await open(agent))
      }
      await Promise.all(Array.from({ length: 20 }, opener))
      return sessions
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Runs replies, and returns what the server used for them (microseconds). Rejects when one failed. */
export async function load(
  ground: Ground,
  scene: Pick<GreenroomScene, 'pids'>,
  job: RepliesJob,
): Promise<Replies & { cpu: Use }> {
  const before = await cpuOf(scene.pids)
  const replies = await ground.load.replies(job)
  const after = await cpuOf(scene.pids)
  if (replies.failed > 0) throw new Error(replies.failures.join('; '))
  const cpu = {
    own: after.own - before.own,
    postgres: after.postgres - before.postgres,
    redis: after.redis - before.redis,
  }
  return { ...replies, cpu }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
