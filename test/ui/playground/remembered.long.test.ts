/** Contract sections 28 and 29: a call that an earlier decision settled, what is remembered, and what is typed into a draft. */
import { afterAll, expect, test } from 'vitest'
import { asks, look, openToolScene, says, startToolServer } from '../../http/tool-scene.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, sidewaysScroll, unique } from '../browser.ts'

const tools = await startToolServer(() => 'seen')
const scene = await openToolScene()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
  await tools[Symbol.asyncDispose]()
})

verifies(
  'contract-29.remembered-pages',
  'a call that an earlier decision settled links to it; it is listed with the user’s, and revoked',
  async () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } } }
    const tool = await scene.createTool({ name: 'look', url: tools.url, inputSchema })
    await scene.choose({ httpToolIds: [tool], approvals: [{ httpToolId: tool }] })
    scene.up.always(async (call) => {
      await (call.body.messages.at(-1).role === 'tool' ? says('Done.') : asks('', look('a', 'c1')))(call)
    })
    const user = unique('ann')
    const { id } = (await scene.call('POST', scene.sessions, { user })).json
    const decide = async (remember: object) => {
      const [{ call_id }] = (await scene.call('GET', `${scene.sessions}/${id}`)).json.pending
      const decisions = [{ call_id, decision: 'approve', ...remember }]
      expect((await scene.call('POST', `${scene.sessions}/${id}/actions`, { decisions })).status).toBe(200)
    }
    const listed = async (path: string) => (await scene.call('GET', path)).json.decisions.length
    const ofSession = `${scene.sessions}/${id}/decisions`
    const ofUser = `${scene.agent}/deploy/users/${user}/decisions`
    await scene.send(id, 'one')
    await decide({ remember: 'user' })
    const revoked = (await scene.call('GET', ofUser)).json.decisions[0].id
    await scene.call('DELETE', `${ofUser}/${revoked}`)
    await scene.send(id, 'two')
    await decide({ remember: 'user', remember_arguments: ['q'] })
    await scene.send(id, 'three')

    await using page = await browser.page(scene.app.url, { width: 390, height: 800 })
    await page.goto(`/playground/${scene.agentId}/${id}`)
    await page.getByRole('link', { name: 'an earlier decision' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Remembered decisions' })
    const marked = dialog.locator('li[aria-current]')
    await marked.getByText(`Approves look for ${user}`).waitFor()
    await expect.poll(() => marked.getByText('{"q":"a"}').count()).toBe(1)
    expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
    await dialog.getByRole('button', { name: 'Revoke the decision about look' }).click()
    await dialog.getByText('Nothing is remembered.').waitFor()
    await expect.poll(() => listed(ofUser)).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })

    await scene.send(id, 'four')
    await decide({ remember: 'session' })
    await page.reload()
    await page.getByRole('button', { name: 'About this session' }).click()
    await page.getByRole('button', { name: 'Remembered decisions' }).click()
    await dialog.getByText('Approves look in this session').waitFor()
    await dialog.getByRole('button', { name: 'Revoke the decision about look' }).click()
    await dialog.getByText('Nothing is remembered.').waitFor()
    await expect.poll(() => listed(ofSession)).toBe(0)
  },
)

test('a window in which something is typed that is not in the draft yet asks before it is closed', async () => {
  await using page = await browser.page(scene.app.url)
  await page.goto(`/playground/${scene.agentId}`)
  // Nothing that is typed is ever stored.
  await page.route(/draft=true/, (route) => (route.request().method() === 'PUT' ? undefined : route.continue()))
  const isSent = page.waitForRequest((request) => request.method() === 'PUT' && request.url().includes('draft=true'))
  await page
    .getByRole('textbox', { name: /prompt/i })
    .first()
    .fill('Typed.')
  await isSent // the page guards itself by then
  const asked = new Promise<string>((resolve) =>
    page.once('dialog', async (dialog) => {
      resolve(dialog.type())
      await dialog.accept()
    }),
  )
  await page.close({ runBeforeUnload: true })
  expect(await asked).toBe('beforeunload')
})
