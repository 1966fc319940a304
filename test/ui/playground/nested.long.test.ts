/** The session that answers a call of an agent, below the call: live, to any depth, with a stop of its own. */
import { afterAll, expect } from 'vitest'
import { asking, createAgentTree } from '../../support/agent-tree.ts'
import { verifies } from '../../verifies.ts'
import { axe, sidewaysScroll, type TestPage } from '../browser.ts'
import { replies, say, sessionOf, soon, startPlayground, statuses } from './playground-scene.ts'

const { up, app, agentId, open, close } = await startPlayground()
afterAll(close)
const { ledger } = await createAgentTree(app, agentId)

const nested = (page: TestPage, name: string) => page.getByRole('region', { name: `Asked: ${name}` })
const stateIn = (page: TestPage, name: string) => nested(page, name).getByTestId('child-state').last()

verifies(
  'contract-30.pages',
  'children are nested below their calls, live, and stopped alone by keyboard',
  async () => {
    await using page = await open(undefined, { width: 390, height: 844 })
    const asked = asking(up)
    await say(page, 'Ann?')
    const call = await asked
    await call.text('Ann: +1')
    await nested(page, 'ledger').getByText('Ann: +1').waitFor()
    await expect.poll(() => nested(page, 'billing').getByRole('region', { name: 'Asked: ledger' }).count()).toBe(1)
    await expect.poll(() => stateIn(page, 'ledger').textContent()).toBe('Writing')
    await call.text('1')
    await nested(page, 'ledger').getByText('Ann: +11').waitFor()
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    await nested(page, 'ledger').getByRole('button', { name: 'Stop ledger' }).press('Enter')
    await soon(() => stateIn(page, 'ledger').textContent()).toBe('Stopped')
    await nested(page, 'billing').getByText('Ann owes 12 euros.').first().waitFor()
    await replies(page).getByText('Twelve.').waitFor()
    await soon(() => statuses(page)).toEqual(['Complete'])
    await expect.poll(() => nested(page, 'ledger').getByRole('button', { name: 'Stop ledger' }).count()).toBe(0)
  },
)

verifies(
  'contract-30.pages',
  'a child that has ended is read when it is unfolded, and opens as a session',
  async () => {
    await using page = await open()
    const asked = asking(up)
    await say(page, 'Ann?')
    const call = await asked
    await call.text('Ann: +12')
    await call.finish()
    await soon(() => statuses(page)).toEqual(['Complete'])
    await sessionOf(page)
    await page.reload()
    const fold = nested(page, 'billing').getByRole('button', { name: 'billing', exact: true })
    await expect.poll(() => fold.getAttribute('aria-expanded')).toBe('false')
    await fold.press('Enter')
    await nested(page, 'billing').getByText('Ann owes 12 euros.').waitFor()
    await nested(page, 'ledger').getByRole('button', { name: 'ledger', exact: true }).press('Enter')
    await nested(page, 'ledger').getByText('Ann: +12').waitFor()
    expect(await axe(page)).toEqual([])
    await nested(page, 'ledger').getByRole('link', { name: 'Open the session of ledger' }).click()
    await page.waitForURL(`**/playground/${ledger}/*`)
    await page.getByRole('log', { name: 'Conversation' }).getByText('Ann: +12').waitFor()
  },
)

verifies('contract-30.pages', 'what a child asks is asked below its call, and in the conversation above', async () => {
  const path = { agent_id: ledger }
  const body = { builtInToolIds: ['current_time'], approvals: ['current_time'] }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params: { path }, body })
  await using page = await open()
  const asked = asking(up)
  await say(page, 'Ann?')
  const call = await asked
  await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{}' })
  await call.finish('tool_calls')
  await soon(() => statuses(page)).toEqual(['Waiting for an answer'])
  await page.getByRole('region', { name: 'Waiting for a decision', exact: true }).waitFor()
  await nested(page, 'ledger').getByRole('region', { name: 'Waiting for a decision, ledger' }).waitFor()
  expect(await axe(page)).toEqual([])
  const next = asking(up)
  await page
    .getByRole('region', { name: 'Waiting for a decision', exact: true })
    .getByRole('button', { name: 'Approve' })
    .click()
  const again = await next
  await again.text('Ann: +12')
  await again.finish()
  await replies(page).getByText('Twelve.').waitFor()
  await soon(() => statuses(page)).toEqual(['Waiting for an answer', 'Complete'])
})
