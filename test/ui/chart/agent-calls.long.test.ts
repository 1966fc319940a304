/** Calls of agents in the chart and in the trace: nodes that lead to the child's chart, and one waterfall for the tree. */
import { afterAll, expect } from 'vitest'
import { asking, createAgentTree } from '../../support/agent-tree.ts'
import { verifies } from '../../verifies.ts'
import { axe, sidewaysScroll, type TestPage } from '../browser.ts'
import { startPlayground } from '../playground/playground-scene.ts'
import { lit, until } from './chart-scene.ts'

const { up, app, agentId, open, close } = await startPlayground()
afterAll(close)
const { billing, ledger } = await createAgentTree(app, agentId)

/** Asks the tree, whose deepest model says nothing until `finish`. */
async function begun() {
  const asked = asking(up)
  const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Ann?' }),
  })
  const call = await asked
  return {
    sessionId: answer.headers.get('x-session-id') ?? '',
    async finish() {
      await call.text('+12')
      await call.finish()
      await answer.text()
    },
  }
}

const node = (page: TestPage, name: RegExp) =>
  page.getByRole('list', { name: 'Agents that are asked' }).getByRole('link', { name })

verifies('contract-30.pages', 'a running call is a node of the chart that opens the chart of the child', async () => {
  const { sessionId, finish } = await begun()
  await using page = await open()
  await page.goto(`/chart?agent=${agentId}&session=${sessionId}`)
  await node(page, /^billing is asked/).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await node(page, /^billing/).press('Enter')
  await page.waitForURL(`**/chart?agent=${billing}&session=*`)
  await node(page, /^ledger is asked/).press('Enter')
  await page.waitForURL(`**/chart?agent=${ledger}&session=*`)
  await until(() => lit(page).getAttribute('data-state')).toBe('streaming.generating')
  await finish()
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await page.goto(`/chart?view=replay&agent=${agentId}&session=${sessionId}`)
  await node(page, /^billing has answered/).click()
  await page.waitForURL(`**/chart?view=replay&agent=${billing}&session=*`)
  await node(page, /^ledger has answered/).waitFor()
})

verifies(
  'contract-30.pages',
  'the page of a reply has the spans of the tree in one list, live and stored',
  async () => {
    const { sessionId, finish } = await begun()
    await using page = await open()
    await page.goto(`/replies/${sessionId}`)
    const rows = page.getByRole('list', { name: 'Spans of the reply' })
    const names = async () =>
      (await rows.getByRole('listitem').allInnerTexts()).map((text) => text.trim().split('\n')[0])
    await rows.getByText('reply of ledger').waitFor()
    await finish()
    await until(async () => (await names()).filter((name) => name === 'saved').length).toBe(3)
    const inOrder = /^reply\n.*\nbilling.*\nreply of billing.*\nledger.*\nreply of ledger/s
    await until(async () => (await names()).join('\n')).toMatch(inOrder)
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    await rows.getByText('reply of ledger').click()
    await page.getByRole('link', { name: 'Open the reply' }).waitFor()
    await rows.getByRole('button', { name: 'Session of billing' }).press('Enter')
    await until(() => rows.getByText('reply of ledger').count()).toBe(0)
  },
)
