/** Contract section 14: whatever is done to a conversation, each path reads as its reader saw it, and the model was sent it. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { call } from '../http/scene.ts'
import { startUpstream, type UpstreamCall } from '../support/network/upstream.ts'
import { addAgent, dataFolder, deployUrl, type Product, startProduct } from '../support/programs/product.ts'
import { samples } from '../support/samples.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { tier } from '../support/tier.ts'
import { verifies } from '../verifies.ts'

const numRuns = samples(4, 200)

const folder = await dataFolder()
const up = await startUpstream()
let product: Product
let sessions = ''
const start = async () => {
  product = await startProduct({ dataDir: folder.path, direct: true })
}
beforeAll(async () => {
  await start()
  sessions = new URL(`${deployUrl(product.url, await addAgent(product, up.url))}/sessions`).pathname
})
afterAll(async () => {
  await product?.[Symbol.asyncDispose]()
  await up.close()
  await folder[Symbol.asyncDispose]()
})

const ask = (method: string, path: string, body?: object) => call(`${product.url}${sessions}${path}`, method, body)
const newSession = async (): Promise<string> => (await ask('POST', '', {})).json.id

/** As with kill -9 of the whole process, and a start behind it. */
async function kill(): Promise<void> {
  await product.kill9()
  await product[Symbol.asyncDispose]()
  await start()
}

/** A start that failed is what is reported then, not all the runs behind it that find nothing to talk to. */
async function startIfEnded(): Promise<void> {
  const { exitCode, signalCode } = product.child
  if (exitCode !== null || signalCode !== null) await start()
}

interface Known {
  id: string
  parent: Known | null
  role: 'user' | 'assistant'
  content: string
}

/** What a reader knows of a session. */
interface Model {
  session: string
  all: Known[]
  head: Known | null
}

const pathOf = (last: Known | null): Known[] => (last === null ? [] : [...pathOf(last.parent), last])

/** What the model is sent: empty replies left out, neighbours of the same role joined. */
function sentOf(path: readonly Known[]): string[] {
  const joined: { role: string; content: string }[] = []
  for (const { role, content } of path.filter((one) => one.content !== '')) {
    const last = joined.at(-1)
    if (last?.role === role) last.content += `\n\n${content}`
    else joined.push({ role, content })
  }
  return joined.map(({ content }) => content)
}

const often = ['send', 'send', 'edit', 'edit', 'regenerate', 'regenerate', 'turn', 'fork', 'cancel', 'delete']
/** A start after a kill takes as long as twenty of the others: the long tier's. */
const kinds = tier === 'short' ? often : [...often, ...often, 'kill', 'kill while it writes']

const action = fc.record({
  kind: fc.constantFrom(...kinds),
  /** Which of the messages that there are. */
  at: fc.nat(1000),
  frame: fc.nat(6),
})

let words = 0

type End = 'whole' | 'cancel' | 'kill'

/** Sends, and reads the reply to its end: its own, or what cuts it after its first word. What was seen is known from then on. */
async function reply(model: Model, body: object, asked: Known | null, behind: Known | null, end: End = 'whole') {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  up.next(resolve)
  const calls = up.calls.length
  const sent = asked ? { messages: [{ role: 'user', content: asked.content }] } : {}
  const path = `${product.url}${sessions}/${model.session}/chat/completions`
  const stream = await openSse(path, { ...sent, stream: true, ...body })
  expect(stream.status).toBe(200)
  const one = await promise
  await one.text('Once ')
  await stream.next()
  await stream.next()
  if (end === 'cancel') await ask('POST', `/${model.session}/chat/completions/cancel`)
  else await one.text('upon 😀 ')
  if (end === 'whole') await one.finish()
  if (end === 'kill') await kill()
  const { frames } = await stream.rest()
  const user = asked ?? behind
  const shown = contentOf(frames.filter(({ data }) => !data.includes('"error"')))
  const added: Known[] = asked === null ? [] : [asked]
  added.push({ id: '', parent: user, role: 'assistant', content: end === 'kill' ? await keptOf(model, shown) : shown })
  // The instance that settles what was lost asks nothing again.
  expect(up.calls.length).toBe(calls + 1)
  model.all.push(...added)
  model.head = added.at(-1) ?? null
  expect(one.body.messages.map((message: { content: string }) => message.content)).toEqual(sentOf(pathOf(user)))
  await learnIds(model)
}

/** What is there of a reply that was lost with its process: all that was shown, and perhaps what was on its way. */
async function keptOf({ session }: Model, shown: string): Promise<string> {
  const { content, status } = (await read(session)).at(-1)
  expect([status, content.startsWith(shown), 'Once upon 😀 '.startsWith(content)]).toEqual(['error', true, true])
  return content
}

const read = async (session: string, query = '') => (await ask('GET', `/${session}/messages${query}`)).json.messages

/** Messages are made in the order in which they are known; the whole tree is compared. */
async function learnIds({ session, all, head }: Model): Promise<void> {
  const stored = await read(session, '?branches=all')
  for (const [index, { id }] of stored.entries()) {
    const known = all[index]
    if (known) known.id = id
  }
  const shown = ({ id, parent, role, content }: Known) => ({ id, parent_id: parent?.id ?? null, role, content })
  expect(stored).toMatchObject(all.map(shown))
  expect(await read(session)).toMatchObject(pathOf(head).map(shown))
  expect((await ask('GET', `/${session}`)).json.head_id).toBe(head?.id ?? null)
}

async function act(models: Model[], { kind, at, frame }: { kind: string; at: number; frame: number }): Promise<void> {
  const model = models[at % models.length]
  if (model === undefined) return
  const { session, all } = model
  const some = all[at % all.length]
  const question = (parent: Known | null): Known => ({ id: '', parent, role: 'user', content: `word ${words++}` })
  if (kind === 'send') return reply(model, {}, question(model.head), null)
  if (kind === 'cancel') return reply(model, {}, question(model.head), null, 'cancel')
  if (kind === 'kill while it writes') return reply(model, {}, question(model.head), null, 'kill')
  if (kind === 'kill') {
    await kill()
    return learnIds(model)
  }
  if (kind === 'delete' && models.length > 1) {
    await ask('DELETE', `/${session}`)
    models.splice(models.indexOf(model), 1)
    return
  }
  if (some === undefined) return
  if (kind === 'edit') {
    const parent = some.role === 'assistant' ? some : null
    return reply(model, { parent_id: parent?.id ?? null }, question(parent), null)
  }
  if (kind === 'regenerate') {
    const user = some.role === 'user' ? some : some.parent
    return reply(model, { regenerate: true, message_id: some.id }, null, user)
  }
  if (kind === 'turn') {
    await ask('POST', `/${session}/head`, { message_id: some.id })
    model.head = all.findLast((one) => pathOf(one).includes(some)) ?? null
    return learnIds(model)
  }
  if (kind === 'fork') models.push(await fork(session, some, frame))
}

async function fork(session: string, last: Known, frame: number): Promise<Model> {
  const fork_of = { session_id: session, message_id: last.id }
  const stream = (await read(session)).length > 0 && last.role === 'assistant' ? frame : undefined
  const made = await ask('POST', '', { fork_of: { ...fork_of, frame_id: stream } })
  const whole = made.status === 201 ? made : await ask('POST', '', { fork_of })
  const copies: Known[] = []
  for (const { role, content } of pathOf(last)) copies.push({ id: '', parent: copies.at(-1) ?? null, role, content })
  const copy = copies.at(-1)
  const id = whole.json.id
  // Frame ids rise through all branches: where this one lies in its reply is another test's matter.
  const [shown] = (await read(id)).slice(-1)
  if (copy) {
    expect(copy.content.startsWith(shown.content)).toBe(true)
    copy.content = shown.content
  }
  const model = { session: id, all: copies, head: copy ?? null }
  await learnIds(model)
  return model
}

verifies(
  ['contract-14.paths', 'contract-14.model'],
  tier === 'short'
    ? 'send, edit, regenerate, turn, fork, cancel and delete, in any order'
    : 'send, edit, regenerate, turn, fork, cancel, delete and kill -9, in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 16 }), async (actions) => {
        await startIfEnded()
        const models: Model[] = [{ session: await newSession(), all: [], head: null }]
        for (const one of actions) await act(models, one)
        // A fork lives for itself.
        for (const model of models) await learnIds(model)
      }),
      { numRuns },
    )
  },
  { timeout: 60_000 + numRuns * 30_000 },
)
