/** Conditions of approvals keep their digits, and compare those of the arguments (section 35). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call, openWaitingScene } from './waiting-scene.ts'

const scene = await openWaitingScene({ settings: {} })
afterAll(scene.close)

const WRITTEN = '9007199254740993'
const BESIDE = '9007199254740992'
const { json } = await scene.call('GET', '/api/v1/http-tools')
const httpToolId: string = json.httpTools.find(({ name }: { name: string }) => name === 'pay').id
const approvals = (digits: string) =>
  `[{"httpToolId":"${httpToolId}","when":{"properties":{"amount":{"const":${digits}}},"required":["amount"]}}]`
const tools = `${scene.agent}/tools`
const put = (path: string, digits: string) => scene.call('PUT', path, `{"approvals":${approvals(digits)}}`)
const read = async (path: string) => (await scene.call('GET', path)).text

/** Whether a call with this amount waits. */
async function waits(amount: string): Promise<boolean> {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', `{"amount":${amount}}`)))
  scene.says('Paid.')
  await scene.send(id, 'Pay!')
  scene.up.forget()
  return (await scene.session(id)).pending.length === 1
}

verifies('contract-35.digits', 'a call waits for the number of the condition alone', async () => {
  expect((await put(tools, WRITTEN)).text).toContain(`"const":${WRITTEN}`)
  expect([await waits(WRITTEN), await waits(BESIDE)]).toEqual([true, false])
  expect((await put(tools, BESIDE)).status).toBe(200)
  expect([await waits(WRITTEN), await waits(BESIDE)]).toEqual([false, true])
})

verifies('contract-35.digits', 'conditions in drafts, versions, the audit, exports and imports', async () => {
  await put(tools, BESIDE)
  expect((await put(`${tools}?draft=true`, WRITTEN)).status).toBe(200)
  expect([await read(tools), await read(`${tools}?draft=true`)]).toEqual([
    expect.stringContaining(BESIDE),
    expect.stringContaining(WRITTEN),
  ])
  expect((await scene.call('POST', `${scene.agent}/publish`)).status).toBe(200)
  expect(await read(tools)).toContain(WRITTEN)
  expect(await waits(BESIDE)).toBe(false)
  const { version } = JSON.parse(await read(scene.agent))
  expect(await read(`${scene.agent}/versions/${version}`)).toContain(WRITTEN)
  expect((await scene.call('GET', '/api/v1/audit')).text).toContain(WRITTEN)

  const exported = await read('/api/v1/export')
  expect(exported).toContain(WRITTEN)
  const again = await scene.call('POST', '/api/v1/import?dryRun=true', exported)
  expect([again.status, again.json.changes]).toEqual([200, []])
  for (const type of ['application/json', 'application/yaml']) {
    await put(tools, BESIDE)
    const taken = await scene.call('POST', '/api/v1/import', exported, { 'content-type': type })
    expect([type, taken.status, taken.json.updated]).toEqual([type, 200, 1])
    expect(await read(tools)).toContain(WRITTEN)
  }
})
