/**
 * Contract section 12: without `include_reasoning` every byte is as before. The fixture holds what the version before
 * answered and sent when a model thought aloud; RECORD=1 writes it anew, which is right for no other reason than a
 * change that is meant to change these bytes.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene, type SseStream, type UpstreamCall } from '../scene.ts'

const scene = await openScene({ system: 'Be brief.' })
afterAll(scene.close)
const fixture = new URL('./fixtures/without-reasoning.json', import.meta.url)

/** Ids and times, which differ from run to run, made equal. */
const settled = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replace(/"created":\d+/g, '"created":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')

/** A model that thinks in every field there is, before and between its words; `shown` waits for a frame. */
async function thinkAloud(up: UpstreamCall, shown: () => Promise<unknown>): Promise<void> {
  await up.delta({ role: 'assistant', content: '', reasoning_content: 'Hm.' })
  await up.delta({ reasoning: 'Well', reasoning_content: 'Well' })
  await up.text('So ')
  await shown()
  await up.delta({ reasoning: 'Or?', content: 'it ' })
  await shown()
  await up.delta({ reasoning: 'Sure.' })
  await up.text('is.')
  await shown()
  await up.finish('stop', { prompt_tokens: 7, completion_tokens: 5 }, true)
}

async function streamed(open: Promise<SseStream>, next: Promise<UpstreamCall>): Promise<[string, unknown]> {
  const stream = await open
  await stream.next()
  const up = await next
  await thinkAloud(up, () => stream.next())
  await stream.rest()
  return [settled(stream.raw()), up.body]
}

/** All that a caller and a provider see: streams, bodies, resumes from every id, messages, a second turn. */
async function everything(): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {}
  seen.stateless = await streamed(scene.statelessStream('Why?'), scene.byHand())
  scene.up.always((up) => thinkAloud(up, async () => {}))
  seen.statelessWhole = settled((await scene.stateless([{ role: 'user', content: 'Why?' }])).text)
  const id = await scene.newSession()
  const usage = { stream_options: { include_usage: true }, reasoning_effort: null }
  seen.session = await streamed(scene.stream(id, 'Why?', usage), scene.byHand())
  for (let after = 0; after <= 9; after++) {
    const resumed = await scene.resume(id, after)
    await resumed.rest()
    seen[`after ${after}`] = settled(resumed.raw())
  }
  scene.up.always((up) => thinkAloud(up, async () => {}))
  seen.whole = settled((await scene.send(id, 'And now?')).text)
  seen.second = scene.up.calls.at(-1)?.body
  seen.messages = settled(JSON.stringify(await scene.messages(id)))
  return seen
}

verifies(
  'contract-12.reasoning-off',
  'streams, bodies, resumes, messages and provider calls are as before',
  async () => {
    const seen = await everything()
    if (process.env.RECORD) await writeFile(fixture, `${JSON.stringify(seen, null, 2)}\n`)
    expect(seen).toEqual(JSON.parse(await readFile(fixture, 'utf8')))
  },
)
