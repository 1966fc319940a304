/** Contract section 14: whatever is done to a conversation, each path reads as its reader saw it, and the model was sent it. */
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { contentOf } from '../support/sse.ts'
import { verifies } from '../verifies.ts'
import { openScene } from './scene.ts'

const scene = await openScene()
afterAll(scene.close)

/** More: `BRANCH_RUNS=200 npx vitest run test/http/branches-property.test.ts`. */
const numRuns = Number(process.env.BRANCH_RUNS ?? 8)

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

const action = fc.record({
  kind: fc.constantFrom('send', 'send', 'edit', 'regenerate', 'turn', 'fork', 'cancel', 'delete'),
  /** Which of the messages that there are. */
  at: fc.nat(1000),
  frame: fc.nat(6),
})

let words = 0

/** Sends, reads the reply to its end, or cancels it after its first word; what the reader saw is known from then on. */
async function reply(model: Model, body: object, asked: Known | null, behind: Known | null, cancel: boolean) {
  const calls = scene.up.calls.length
  const next = scene.byHand()
  const stream = await scene.stream(model.session, asked?.content ?? '', body)
  expect(stream.status).toBe(200)
  const call = await next
  await call.text('Once ')
  await stream.next()
  await stream.next()
  if (cancel) await scene.cancel(model.session)
  else {
    await call.text('upon 😀 ')
    await call.finish()
  }
  const { frames } = await stream.rest()
  expect(scene.up.calls.length).toBe(calls + 1)
  const user = asked ?? behind
  const content = contentOf(frames)
  const added: Known[] = asked === null ? [] : [asked]
  added.push({ id: '', parent: user, role: 'assistant', content })
  model.all.push(...added)
  model.head = added.at(-1) ?? null
  expect(call.body.messages.map((one: { content: string }) => one.content)).toEqual(sentOf(pathOf(user)))
  await learnIds(model)
}

const read = async (session: string, query = '') =>
  (await scene.call('GET', `${scene.sessions}/${session}/messages${query}`)).json.messages

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
  expect((await scene.call('GET', `${scene.sessions}/${session}`)).json.head_id).toBe(head?.id ?? null)
}

async function act(models: Model[], { kind, at, frame }: { kind: string; at: number; frame: number }): Promise<void> {
  const model = models[at % models.length]
  if (model === undefined) return
  const { session, all } = model
  const some = all[at % all.length]
  const question = (parent: Known | null): Known => ({ id: '', parent, role: 'user', content: `word ${words++}` })
  if (kind === 'send' || kind === 'cancel') return reply(model, {}, question(model.head), null, kind === 'cancel')
  if (kind === 'delete' && models.length > 1) {
    await scene.call('DELETE', `${scene.sessions}/${session}`)
    models.splice(models.indexOf(model), 1)
    return
  }
  if (some === undefined) return
  if (kind === 'edit') {
    const parent = some.role === 'assistant' ? some : null
    return reply(model, { parent_id: parent?.id ?? null }, question(parent), null, false)
  }
  if (kind === 'regenerate') {
    const user = some.role === 'user' ? some : some.parent
    return reply(model, { regenerate: true, message_id: some.id }, null, user, false)
  }
  if (kind === 'turn') {
    await scene.call('POST', `${scene.sessions}/${session}/head`, { message_id: some.id })
    model.head = all.findLast((one) => pathOf(one).includes(some)) ?? null
    return learnIds(model)
  }
  if (kind === 'fork') models.push(await fork(session, some, frame))
}

async function fork(session: string, last: Known, frame: number): Promise<Model> {
  const fork_of = { session_id: session, message_id: last.id }
  const stream = (await read(session)).length > 0 && last.role === 'assistant' ? frame : undefined
  const made = await scene.call('POST', scene.sessions, { fork_of: { ...fork_of, frame_id: stream } })
  const whole = made.status === 201 ? made : await scene.call('POST', scene.sessions, { fork_of })
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
  'send, edit, regenerate, turn, fork, cancel and delete, in any order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 16 }), async (actions) => {
        const models: Model[] = [{ session: await scene.newSession(), all: [], head: null }]
        for (const one of actions) await act(models, one)
        // A fork lives for itself.
        for (const model of models) await learnIds(model)
      }),
      { numRuns },
    )
  },
  { timeout: 30_000 + numRuns * 20_000 },
)
