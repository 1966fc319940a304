/** Contract section 19 in the playground: the divider that opens a summary. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { axe } from '../../browser.ts'
import { conversation, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { up, app, agentId, open, close } = await startPlayground()
afterAll(close)

verifies('contract-19.divider', 'a divider stands below what is sent as a summary, and opens it', async () => {
  await using page = await open()
  up.always((call) => call.text('One.').then(() => call.finish()))
  await say(page, 'first')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const sessionId = await sessionOf(page)
  up.always((call) => call.text('They greeted.').then(() => call.finish()))
  const path = `${app.url}/api/v1/agents/${agentId}/playground/sessions/${sessionId}/compact`
  expect((await fetch(path, { method: 'POST' })).status).toBe(200)
  await page.reload()
  const divider = conversation(page).getByText('The messages above are sent to the model as a summary')
  await divider.waitFor()
  await expect.poll(() => conversation(page).getByText('They greeted.').count()).toBe(0)
  await divider.click()
  await conversation(page).getByText('They greeted.').waitFor()
  expect(await axe(page)).toEqual([])
})
