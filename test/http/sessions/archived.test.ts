/** The mark of archived sessions: who sets it, what shows it, what it leaves alone. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

const playground = `${scene.agent}/playground/sessions`
const patch = (id: string, body: unknown, sessions = scene.sessions) => scene.call('PATCH', `${sessions}/${id}`, body)

verifies('contract-31.archived', 'a change alone sets it, and the time of the last update stays', async () => {
  const { json: made } = await scene.call('POST', scene.sessions, { title: 'Old' })
  expect(made.archived).toBe(false)
  const { status, json } = await patch(made.id, { archived: true })
  expect([status, json]).toEqual([200, { ...made, archived: true }])
  expect((await scene.call('GET', `${scene.sessions}/${made.id}`)).json).toEqual(json)
  const { json: back } = await patch(made.id, { archived: false }, playground)
  expect([back.archived, back.updatedAt]).toEqual([false, made.updated_at])
  const { json: both } = await patch(made.id, { archived: true, title: 'New' })
  expect([both.archived, both.title, both.updated_at > made.updated_at]).toEqual([true, 'New', true])
  expect((await scene.send(made.id, 'Hello')).status).toBe(200)
  expect((await patch(made.id, { title: 'Newer' })).json.archived).toBe(true)
  const { json: copy } = await scene.call('POST', scene.sessions, { fork_of: { session_id: made.id } })
  expect(copy.archived, 'a copy was not archived').toBe(false)
})

verifies('contract-31.archived', 'what is neither true nor false is 400 and changes nothing', async () => {
  const id = await scene.newSession()
  for (const archived of [null, 'true', 1, 0, '', {}, []]) {
    for (const sessions of [scene.sessions, playground])
      expect([archived, (await patch(id, { archived, title: 'Changed' }, sessions)).status]).toEqual([archived, 400])
  }
  expect((await scene.call('GET', `${scene.sessions}/${id}`)).json).toMatchObject({ title: null, archived: false })
})

verifies('contract-31.archived', 'lists contain every session, and only those asked for', async () => {
  const user = 'archivist'
  const make = async () => (await scene.call('POST', scene.sessions, { user })).json.id
  const [kept, put] = [await make(), await make()]
  await patch(put, { archived: true })
  for (const list of [scene.sessions, playground, '/api/v1/sessions']) {
    const ids = async (query: string) => {
      const { json } = await scene.call('GET', `${list}?user=${user}${query}`)
      return [json.total, json.sessions.map(({ id }: { id: string }) => id)]
    }
    expect([list, await ids('')]).toEqual([list, [2, [put, kept]]])
    expect([list, await ids('&archived=true')]).toEqual([list, [1, [put]]])
    expect([list, await ids('&archived=false')]).toEqual([list, [1, [kept]]])
    for (const value of ['', '1', 'TRUE', 'true&archived=false'])
      expect([list, value, (await scene.call('GET', `${list}?archived=${value}`)).status]).toEqual([list, value, 400])
  }
  const { json: counts } = await scene.call('GET', `/api/v1/sessions/counts?user=${user}&archived=true`)
  expect(counts.idle).toBe(1)
  const { json } = await scene.call('GET', `/api/v1/sessions?user=${user}&archived=true`)
  expect(json.sessions[0].archived).toBe(true)
})
