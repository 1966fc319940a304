/** A call that waited belongs to the tool that it was asked of: contract section 25 over real sockets. */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { approve, call, callsOfWaitingTest, openWaitingScene } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)
const { sent } = callsOfWaitingTest(scene)
const paths = () => scene.tools.requests.map(({ url }) => url.pathname)
const tool = (name: string, path: string) =>
  scene.createTool({ name, method: 'POST', url: `${scene.tools.url}/${path}` })
const rename = (id: string, name: string) => scene.call('PUT', `/api/v1/http-tools/${id}`, { name })
const result = async () => (await sent(2)).messages.at(-1).content

verifies('contract-25.waiting-tool', 'the tool is called by another name when it is approved: it is made', async () => {
  const [pay, other] = [await tool('wipe', 'wipe'), await tool('see', 'see')]
  await scene.choose({ httpToolIds: [pay, other], approvals: [{ httpToolId: pay }] })
  const id = await scene.newSession()
  scene.up.next(asks('', call('wipe', 'c1')))
  await scene.send(id, 'Wipe!')
  expect(paths()).toEqual([])
  await rename(pay, 'see it')
  await rename(other, 'wipe')
  scene.says('Wiped.')
  expect((await scene.decide(id, [approve('c1')])).status).toBe(200)
  expect(paths()).toEqual(['/wipe'])
})

verifies('contract-25.waiting-tool', 'the tool is gone, and another has its name: none is made', async () => {
  const pay = await tool('wipe', 'wipe')
  await scene.choose({ httpToolIds: [pay], approvals: '*' })
  const id = await scene.newSession()
  scene.up.next(asks('', call('wipe', 'c1')))
  await scene.send(id, 'Wipe!')
  await scene.choose({ httpToolIds: [await tool('wipe', 'other')], approvals: [] })
  expect((await scene.decide(id, [approve('c1', { changed: true })])).json.error.message).toBe(
    'decisions.0.arguments: The tool that was called wipe when it was asked for is not here now. The call was not made',
  )
  scene.says('It is gone.')
  expect((await scene.decide(id, [approve('c1')])).status).toBe(200)
  expect(paths()).toEqual([])
  expect(await result()).toBe(
    'The tool that was called wipe when it was asked for is not here now. The call was not made.',
  )
})

verifies('contract-25.approval-kept', 'the approval moves with the tool, and stays with the name', async () => {
  const [pay, other] = [await tool('wipe', 'wipe'), await tool('see', 'see')]
  await scene.choose({ httpToolIds: [pay, other], approvals: ['wipe'] })
  await rename(pay, 'see')
  await rename(other, 'wipe')
  for (const name of ['see', 'wipe']) {
    const id = await scene.newSession()
    scene.up.next(asks('', call(name, 'c1')))
    await scene.send(id, 'Go!')
    expect((await scene.session(id)).pending).toMatchObject([{ name, kind: 'approval' }])
  }
  expect(paths()).toEqual([])
})
