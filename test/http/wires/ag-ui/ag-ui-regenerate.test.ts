/** Contract section 25: AG-UI's own client cuts its list of messages, and runs again. */
import { randomUUID } from 'node:crypto'
import { HttpAgent, type Message } from '@ag-ui/client'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene, type Scene } from '../../scene.ts'
import { rest, uiScene } from '../../ui-scene.ts'

let scene: Scene
let ui: ReturnType<typeof uiScene>
beforeAll(async () => {
  scene = await openScene()
  ui = uiScene(scene)
})
afterAll(() => scene.close())

/** A page with AG-UI's client, unmodified. */
function openPage(threadId: string, initialMessages: Message[] = [], forwardedProps = {}) {
  const agent = new HttpAgent({ url: `${scene.app.url}${ui.agUi}`, threadId, initialMessages })
  const run = async (answer: string) => {
    scene.says([answer])
    await agent.runAgent({ runId: randomUUID(), forwardedProps })
  }
  return {
    agent,
    run,
    async send(text: string, answer: string, id: string = randomUUID()) {
      agent.addMessage({ id, role: 'user', content: text })
      await run(answer)
    },
    /** The list up to the user message of this text, as the client's users cut it. */
    async regenerate(text: string, answer: string) {
      const at = agent.messages.findLastIndex(({ role, content }) => role === 'user' && content === text)
      agent.setMessages(agent.messages.slice(0, at + 1))
      await run(answer)
    },
    texts: () => agent.messages.map(({ content }) => content),
  }
}

const path = async (id: string) => (await scene.messages(id)).map(({ content }) => content)
const everything = async (id: string): Promise<string[]> =>
  (await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)).json.messages.map(
    ({ content }: { content: string }) => content,
  )
/** What the newest reply's model was asked. */
const asked = () => scene.up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)

verifies(
  'contract-25.regenerate-run',
  'the first and the newest message are answered once more, not stored',
  async () => {
    const id = randomUUID()
    const page = openPage(id)
    await page.send('one', 'A')
    await page.regenerate('one', 'A again')
    expect([page.texts(), await path(id)]).toEqual([
      ['one', 'A again'],
      ['one', 'A again'],
    ])
    await page.send('two', 'B')
    await page.regenerate('two', 'B again')
    expect(await path(id)).toEqual(page.texts())
    expect(asked()).toEqual(['one', 'A again', 'two'])
    expect(await everything(id)).toEqual(['one', 'A', 'A again', 'two', 'B', 'B again'])
  },
)

verifies('contract-25.regenerate-run', 'an earlier message takes the path back to it', async () => {
  const id = randomUUID()
  const page = openPage(id)
  await page.send('one', 'A')
  await page.send('two', 'B')
  await page.send('three', 'C')
  await page.regenerate('two', 'B again')
  expect([page.texts(), await path(id)]).toEqual([
    ['one', 'A', 'two', 'B again'],
    ['one', 'A', 'two', 'B again'],
  ])
  await page.send('four', 'D')
  expect(asked()).toEqual(['one', 'A', 'two', 'B again', 'four'])
  await page.regenerate('one', 'A again')
  expect(await path(id)).toEqual(['one', 'A again'])
  expect(await everything(id)).toHaveLength(10)
})

verifies('contract-25.regenerate-run', 'the same text under an id of its own is a message of its own', async () => {
  const id = randomUUID()
  const page = openPage(id)
  await page.send('yes', 'A')
  await page.send('yes', 'B')
  expect(await path(id)).toEqual(['yes', 'A', 'yes', 'B'])
  // A page that keeps no list.
  const other = openPage(id)
  await other.send('yes', 'C')
  expect(await path(id)).toEqual(['yes', 'A', 'yes', 'B', 'yes', 'C'])
  await other.regenerate('yes', 'C again')
  expect(await path(id)).toEqual(['yes', 'A', 'yes', 'B', 'yes', 'C again'])
})

verifies('contract-25.regenerate-run', 'an id that other texts came under names no message', async () => {
  const id = randomUUID()
  for (const text of ['go', 'more', 'go']) await openPage(id).send(text, `${text}!`, 'the only one')
  expect(await path(id)).toEqual(['go', 'go!', 'more', 'more!', 'go', 'go!'])
  // One that is too long to be kept names none either.
  const long = randomUUID()
  for (const text of ['go', 'go']) await openPage(long).send(text, `${text}!`, 'x'.repeat(201))
  expect(await path(long)).toEqual(['go', 'go!', 'go', 'go!'])
})

verifies('contract-25.regenerate-run', 'a page that has read the session names its messages by their ids', async () => {
  const id = randomUUID()
  scene.says(['A'])
  await rest(await ui.chat(id, 'one'))
  const stored = await scene.messages(id)
  const page = openPage(
    id,
    stored.map(({ id: named, role, content }) => ({ id: named, role, content })),
  )
  await page.regenerate('one', 'A again')
  expect([page.texts(), await path(id)]).toEqual([
    ['one', 'A again'],
    ['one', 'A again'],
  ])
})

verifies(
  ['contract-25.regenerate-run', 'contract-25.busy'],
  'while a reply runs it is cancelled; a run that is sent again joins all the same',
  async () => {
    const id = randomUUID()
    const next = scene.byHand()
    const messages = [{ id: 'u', role: 'user', content: 'go' }]
    const first = await ui.run(id, 'r1', 'go', { messages })
    const up = await next
    await up.text('some')
    while (!first.raw().includes('some')) await first.next()
    const joined = await ui.run(id, 'r1', 'go', { messages })
    const refused = await scene.call(
      'POST',
      ui.agUi,
      ui.runBody(id, 'r2', 'go', { messages, forwardedProps: { on_busy: 'reject' } }),
    )
    expect(refused.status).toBe(409)
    scene.says(['another'])
    await rest(await ui.run(id, 'r2', 'go', { messages }))
    await rest(first)
    await rest(joined)
    expect(joined.raw()).toBe(first.raw())
    expect(await everything(id)).toEqual(['go', 'some', 'another'])
    const late = await ui.run(id, 'r1', 'go', { messages })
    await rest(late)
    expect(late.raw()).toBe(first.raw())
  },
)

verifies(
  ['contract-25.regenerate-run', 'contract-22.enqueue'],
  'a message that has waited in the queue is known too, and another reply to it waits for nothing',
  async () => {
    const id = randomUUID()
    const forwardedProps = { on_busy: 'enqueue' }
    const messages = [{ id: 'second', role: 'user', content: 'second' }]
    const next = scene.byHand()
    const running = await ui.run(id, 'r1', 'first')
    const up = await next
    scene.says(['answer'])
    const queued = await ui.run(id, 'r2', 'second', { messages, forwardedProps })
    const refused = await scene.call('POST', ui.agUi, ui.runBody(id, 'r1', 'first', { forwardedProps, runId: 'r3' }))
    expect(refused.status).toBe(409)
    await up.text('one')
    await up.finish()
    await rest(running)
    await rest(queued)
    scene.says(['answered again'])
    await rest(await ui.run(id, 'r4', 'second', { messages, forwardedProps }))
    expect(await path(id)).toEqual(['first', 'one', 'second', 'answered again'])
  },
)

verifies('contract-25.regenerate-run', 'a name of one user’s thread finds nothing in another’s', async () => {
  const threadId = `thread ${randomUUID()}`
  const messages = [{ id: 'u', role: 'user', content: 'go' }]
  const says = async (user: string, answer: string, runId: string) => {
    scene.says([answer])
    await rest(await ui.run(threadId, runId, 'go', { messages, forwardedProps: { user } }))
    const found = await scene.call('GET', `${scene.sessions}?user=${user}&external_id=${encodeURIComponent(threadId)}`)
    return await everything(found.json.sessions[0].id)
  }
  expect(await says('anna', 'A', 'r1')).toEqual(['go', 'A'])
  expect(await says('bert', 'B', 'r1')).toEqual(['go', 'B'])
  expect(await says('anna', 'A again', 'r2')).toEqual(['go', 'A', 'A again'])
})
