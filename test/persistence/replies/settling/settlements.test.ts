/**
 * Reads concurrent with settlements. Two statements once showed a streaming message without content around a settlement,
 * so every read that combines a message with its frames is one statement on one snapshot.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo } from '../../../../src/actors/ports/index.ts'
import { connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { readReply } from '../../../../src/persistence/replies/reading/read-reply.ts'
import { samples } from '../../../support/samples.ts'
import { verifies } from '../../../verifies.ts'
import { listMessages } from '../../list-messages.ts'
import { finished, openScene, type Scene, textAt, versions } from '../../scene.ts'

const SETTLEMENTS = samples(250, 10_000)
const WRITERS = 8
const READERS = 4
const full = 'one two'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  let readers: Sql
  beforeAll(async () => {
    scene = await openScene(version)
    readers = connect(scene.database.url, { max: READERS, name: 'readers', timeoutMs: 0 })
  })
  afterAll(async () => {
    await readers.end()
    await scene[Symbol.asyncDispose]()
  })

  verifies(
    'contract-4.stored-before-shown',
    'no reader sees less than before, or a mixed state, during settlements',
    async () => {
      // Half of them on each version.
      const perWriter = SETTLEMENTS / versions.length / WRITERS
      const current = new Map<number, ReplyInfo>()
      let writing = true
      const writer = async (slot: number) => {
        let session = await scene.newSession()
        for (let n = 0; n < perWriter; n++) {
          // Few messages for each session keep the list short, since it is read continuously.
          if (n % 10 === 0) session = await scene.newSession()
          const reply = await scene.begin(session)
          current.set(slot, reply)
          await scene.journal.append(reply, () => [textAt(reply.firstSeq + 1, 'one')])
          await scene.journal.append(reply, () => [textAt(reply.firstSeq + 2, ' two')])
          await scene.journal.settle(reply, finished())
        }
      }
      const wrong: string[] = []
      let reads = 0
      let caughtRunning = 0
      const reader = async (first: number) => {
        const longest = new Map<string, { length: number; ended: boolean }>()
        const see = (how: string, id: string, content: string, ended: boolean) => {
          const before = longest.get(id)
          if (!full.startsWith(content)) wrong.push(`${how}: content "${content}"`)
          if (content.length < (before?.length ?? 0)) wrong.push(`${how}: shorter, "${content}" (ended: ${ended})`)
          if (before?.ended && !ended) wrong.push(`${how}: streams again`)
          if (ended && content !== full) wrong.push(`${how}: ended with "${content}"`)
          longest.set(id, { length: content.length, ended })
          reads += 1
          if (!ended && content !== '') caughtRunning += 1
        }
        for (let slot = first; writing; slot = (slot + 1) % WRITERS) {
          const reply = current.get(slot)
          if (reply === undefined) await new Promise((resolve) => setImmediate(resolve))
          else {
            const messages = (await listMessages(readers, scene.agentId, reply.sessionId)) ?? []
            const message = messages.find(({ id }) => id === reply.id)
            if (message) see('list', message.id, message.content, message.status !== 'streaming')
            const stored = await readReply(readers, reply.id, 0)
            if (stored === null) wrong.push('read: no such reply')
            else {
              const text = stored.events.map(({ event }) => (event.type === 'text' ? event.text : '')).join('')
              see('read', reply.id, text, stored.outcome !== null)
              if ((stored.outcome === null) !== (stored.settledAt === null)) wrong.push('read: half an outcome')
            }
          }
        }
      }
      const reading = Array.from({ length: READERS }, (_, slot) => reader(slot))
      await Promise.all(Array.from({ length: WRITERS }, (_, slot) => writer(slot))).finally(() => {
        writing = false
      })
      await Promise.all(reading)
      expect(wrong.slice(0, 5)).toEqual([])
      // The readers did see running replies, otherwise this proves nothing.
      expect(reads).toBeGreaterThan(SETTLEMENTS / 10)
      expect(caughtRunning).toBeGreaterThan(SETTLEMENTS / 200)
    },
  )
})
