/** The time in a prompt leaves caches warm: contract section 29. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene({ settings: {}, system: 'It is {{now.time}}. Plan: {{ now.time | noon }}' })
afterAll(scene.close)
scene.says(['Yes.'])

const words = 'the time at the end of the newest user message'
const system = `It is ${words}. Plan: ${words}`
const time = /\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]/
interface Told {
  role: string
  content: string
}
const newest = (): Told[] => scene.up.calls.at(-1)?.body.messages
/** Moves what is stored of a session into the past. */
const minutesAgo = (id: string, minutes: number) =>
  scene.app
    .sql`update messages set created_at = created_at - make_interval(mins => ${minutes}) where session_id = ${id}`
const marksOf = (told: readonly Told[]) =>
  told.filter(({ role }) => role === 'user').map(({ content }) => content.split('\n\n').at(-1))

verifies(
  'contract-29.prompt-times',
  'each user message is sent with its time, and the prompt does not change',
  async () => {
    const id = await scene.newSession()
    await scene.send(id, 'One')
    const first = newest()
    expect(first).toEqual([
      { role: 'system', content: system },
      { role: 'user', content: expect.stringMatching(new RegExp(`^One\\n\\n${time.source}$`)) },
    ])
    await minutesAgo(id, 1)
    const [stored] = await scene.messages(id)
    expect(stored.content).toBe('One')
    await scene.send(id, 'Two')
    const mark = `[${stored.created_at.slice(0, 19)}Z]`
    const [, , second] = await scene.messages(id)
    expect(marksOf(newest())).toEqual([mark, `[${second.created_at.slice(0, 19)}Z]`])
  },
)

verifies('contract-29.prompt-times', 'a request begins with the whole of the request before it', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'One')
  const first = newest()
  await scene.send(id, 'Two')
  expect(newest().slice(0, first.length)).toEqual(first)
})

verifies('contract-29.prompt-times', 'a minute later, too, the whole of the request before it stays', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'One')
  const first = newest()
  await minutesAgo(id, 1)
  const [stored] = await scene.messages(id)
  await scene.send(id, 'Two')
  // What was sent a minute ago carried the time of then.
  const then = JSON.stringify(first).replace(time, `[${stored.created_at.slice(0, 19)}Z]`)
  expect(JSON.stringify(newest()).startsWith(then.slice(0, -1))).toBe(true)
  const marks = marksOf(newest()).map((mark) => Date.parse(`${mark}`.slice(1, -1)))
  expect(Number(marks[1]) - Number(marks[0])).toBeGreaterThanOrEqual(60_000)
})

verifies('contract-29.prompt-times', 'stateless requests share all up to the end of the newest message', async () => {
  const told = [{ role: 'user', content: 'One' }]
  await scene.stateless(told)
  const first = JSON.stringify(newest())
  await scene.stateless([...told, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Two' }])
  const shared = first.slice(0, first.indexOf('One') + 3)
  expect(JSON.stringify(newest()).startsWith(shared)).toBe(true)
  expect(first).toMatch(time)
})

verifies('contract-29.prompt-times', 'stored requests show the marks, and lists and titles do not', async () => {
  const id = await scene.newSession()
  await scene.send(id, 'What stands in the stored request?')
  await scene.send(id, 'And in the second one of them?')
  const sent = newest()
  const messages = await scene.messages(id)
  const path = `/api/v1/debug/replies/${messages.at(-1).id}/requests`
  await expect.poll(async () => (await scene.call('GET', path)).json.requests?.[0]?.body.messages).toEqual(sent)
  const texts = JSON.stringify([messages, (await scene.call('GET', `${scene.sessions}/${id}`)).json])
  expect(texts).not.toMatch(time)
})

verifies(
  'contract-29.prompt-times',
  'in a stateless completion only the newest user message carries the time',
  async () => {
    await scene.stateless([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Two' },
    ])
    const [prompt, ...told] = newest()
    expect(prompt?.content).toBe(system)
    expect(told.map(({ content }) => time.test(content))).toEqual([false, false, true])
  },
)

verifies('contract-29.prompt-times', 'in a message of parts the time is one more text part at the end', async () => {
  const id = await scene.newSession()
  const dot =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: dot } },
  ]
  const { status, text } = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, {
    messages: [{ role: 'user', content }],
  })
  expect([status, text.slice(0, 300)]).toEqual([200, expect.any(String)])
  const parts: unknown = newest().at(-1)?.content
  expect(parts).toHaveLength(3)
  expect(Array.isArray(parts) && parts.at(-1)).toEqual({ type: 'text', text: expect.stringMatching(time) })
})

verifies('contract-29.prompt-warning', 'saving a prompt with the time warns, and so does an import', async () => {
  const made = await scene.call('POST', '/api/v1/prompts', { name: 'Timely', content: 'At {{now.time}}.' })
  expect(made.json.warning).toContain('{{now.time}}')
  const put = (content: string) => scene.call('PUT', `/api/v1/prompts/${made.json.id}`, { content })
  expect((await put('At {{now.date}}.')).json).not.toHaveProperty('warning')
  expect((await put('At {{ now.time|noon }}.')).json.warning).toContain('{{now.time}}')
  expect((await scene.call('GET', `/api/v1/prompts/${made.json.id}`)).json).not.toHaveProperty('warning')
  const imported = await scene.call('POST', '/api/v1/import', {
    version: 1,
    prompts: [
      { name: 'Late', content: '{{now.time}}' },
      { name: 'Plain', content: 'Hello' },
    ],
  })
  expect(imported.json.warnings).toEqual([{ kind: 'prompt', name: 'Late', message: made.json.warning }])
  const plain = await scene.call('POST', '/api/v1/import', {
    version: 1,
    prompts: [{ name: 'Plain', content: 'Hello!' }],
  })
  expect(plain.json).not.toHaveProperty('warnings')
})
