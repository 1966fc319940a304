/** Why a stored reply failed: contract section 29. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

const scene = await openScene({ settings: { PROVIDER_RETRIES: '0' } })
afterAll(scene.close)

const failing = async (): Promise<string> => {
  const { json } = await scene.call('POST', scene.sessions, { user: 'ann' })
  scene.up.next((one) => one.error(401, { error: { message: 'secret words' } }))
  await scene.stream(json.id, 'Hello').then((stream) => stream.rest())
  return json.id
}
/** The error chunk of the newest reply, resumed. */
const resumed = async (id: string) => {
  const { frames } = await (await scene.resume(id, 0)).rest()
  const { code, message } = JSON.parse(frames.at(-1)?.data ?? '').error
  return { code, message }
}

verifies('contract-29.failures', 'messages with status error carry code and words of the error chunk', async () => {
  const id = await failing()
  const error = await resumed(id)
  expect(error.code).toBe('provider_auth')
  expect(JSON.stringify(error)).not.toContain('secret words')
  const [question, reply] = await scene.messages(id)
  expect(question).not.toHaveProperty('error')
  expect(reply).toMatchObject({ status: 'error', error })
  const branches = await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)
  expect(branches.json.messages[1].error).toEqual(error)

  const ui = await scene.call('GET', `${scene.agent}/deploy/ai-sdk/${id}/messages`)
  expect(ui.json.messages.map(({ metadata }: { metadata: object }) => metadata)).toEqual([
    { status: 'complete' },
    { status: 'error', error },
  ])
  const exported = await scene.call('GET', `${scene.agent}/deploy/users/ann/export`)
  expect(JSON.parse(exported.text.split('\n')[0] ?? '').messages[1].error).toEqual(error)
  const fork = await scene.call('POST', scene.sessions, { fork_of: { session_id: id } })
  expect((await scene.messages(fork.json.id))[1].error).toEqual(error)
})

verifies(
  'contract-29.failures',
  'a message of an older version without words is told as a resume tells it',
  async () => {
    const id = await failing()
    await scene.app
      .sql`update messages set error_code = null, error_message = null where session_id = ${id} and status = 'error'`
    expect((await scene.messages(id))[1].error).toEqual(await resumed(id))
  },
)

verifies('contract-29.failures', 'a cancelled reply has none', async () => {
  const id = await scene.newSession()
  const asked = scene.byHand()
  const stream = await scene.stream(id, 'Hello')
  await asked
  await scene.cancel(id)
  await stream.rest()
  expect((await scene.messages(id))[1]).not.toHaveProperty('error')
})
