/** Summaries in the database (contract section 19): who may store one, and which one a history begins with. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { newId } from '../../../../src/actors/reply/new-id.ts'
import { finished, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())

const usage = { promptTokens: 3, completionTokens: 2, estimated: false, cachedTokens: 1 }
const summaryTo = (position: number, summary = 'What was said.') => ({
  id: newId(),
  position,
  summary,
  model: 'm',
  usage,
})
const limits = { maxBytes: 10_000, maxToolText: 1000 }

/** A session with so many whole turns. */
async function sessionOf(turns: number): Promise<string> {
  const sessionId = await scene.newSession()
  for (let n = 0; n < turns; n++) {
    const reply = await scene.begin(sessionId, { text: `question ${n}` })
    await scene.journal.settle(reply, finished())
  }
  return sessionId
}

verifies('contract-19.compaction', 'a history begins behind the newest summary on its path', async () => {
  const sessionId = await sessionOf(3)
  const epoch = scene.instance.epoch()
  for (const checkpoint of [summaryTo(3, 'newer'), summaryTo(1, 'older')])
    expect(await scene.journal.keepCheckpoint({ sessionId, epoch }, checkpoint)).toBe('stored')
  const read = async (end: number) => {
    const { checkpoint, messages, isWhole } = await scene.journal.history(sessionId, end, limits)
    return { summary: checkpoint?.summary, from: messages[0]?.position, isWhole }
  }
  expect(await read(5)).toEqual({ summary: 'newer', from: 4, isWhole: false })
  expect(await read(3)).toEqual({ summary: 'newer', from: undefined, isWhole: false })
  expect(await read(2)).toEqual({ summary: 'older', from: 2, isWhole: false })
  expect(await read(0)).toEqual({ summary: undefined, from: 0, isWhole: true })
})

verifies('contract-19.compaction-stops', 'an instance that was declared lost stores none', async () => {
  const sessionId = await sessionOf(1)
  const { instance, journal } = await scene.another()
  const owner = { sessionId, epoch: instance.epoch() }
  await scene.sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
  expect(await journal.keepCheckpoint(owner, summaryTo(1))).toBe('fenced')
  expect((await scene.journal.history(sessionId, 1, limits)).checkpoint).toBeNull()
})

verifies('contract-19.compaction-stops', 'of a session that is gone none is stored', async () => {
  const owner = { sessionId: randomUUID(), epoch: scene.instance.epoch() }
  expect(await scene.journal.keepCheckpoint(owner, summaryTo(1))).toBe('fenced')
})

verifies('contract-19.compaction', 'stored again after a lost answer it is there once', async () => {
  const sessionId = await sessionOf(1)
  const owner = { sessionId, epoch: scene.instance.epoch() }
  const checkpoint = summaryTo(1)
  expect(await scene.journal.keepCheckpoint(owner, checkpoint)).toBe('stored')
  expect(await scene.journal.keepCheckpoint(owner, checkpoint)).toBe('stored')
  const [row] = await scene.sql`select count(*)::integer as n from checkpoints where session_id = ${sessionId}`
  expect(row).toEqual({ n: 1 })
})
