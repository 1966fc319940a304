/** Specification 2: ids are UUIDs. They rise with time, so that new rows lie side by side in their indexes. */
import { afterAll, expect, test } from 'vitest'
import { openScene, uuid } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

test('ids of sessions, of their messages and of stateless replies rise with time', async () => {
  const made: Record<'sessions' | 'questions' | 'replies' | 'stateless', string[]> = {
    sessions: [],
    questions: [],
    replies: [],
    stateless: [],
  }
  for (let n = 0; n < 5; n++) {
    const session = await scene.newSession()
    made.sessions.push(session)
    await scene.send(session, 'Hi')
    const [question, reply] = await scene.messages(session)
    made.questions.push(question.id)
    made.replies.push(reply.id)
    made.stateless.push((await scene.stateless([{ role: 'user', content: 'Hi' }])).json.id.replace('chatcmpl-', ''))
  }
  for (const ids of Object.values(made)) {
    expect(ids).toEqual(ids.map(() => expect.stringMatching(uuid)))
    expect(ids).toEqual([...new Set(ids)].sort())
  }
})
