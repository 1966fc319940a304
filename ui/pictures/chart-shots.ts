/** The state chart's pictures: a reply in the middle, a replay at a tool's answer, actors. */
import type { Page } from 'playwright-core'
import { demoAgent, type Product } from '../../test/support/programs/product.ts'
import type { Shot } from './shots.ts'

const tool = '/tool current_time {"timeZone":"Europe/Paris"}'

/** Makes the sessions and has the pictures taken; what still runs is cancelled. */
export async function withChartShots(product: Product, take: (shots: Shot[]) => Promise<void>): Promise<void> {
  const { client, url } = product
  const path = { agent_id: demoAgent }
  await client.PUT('/api/v1/agents/{agent_id}/tools', { params: { path }, body: { builtInToolIds: ['current_time'] } })
  const chat = async (message: string, sessionId?: string) => {
    const body = JSON.stringify({ message, ...(sessionId && { sessionId }) })
    const headers = { 'content-type': 'application/json' }
    const stream = await fetch(`${url}/api/v1/agents/${demoAgent}/playground/chat`, { method: 'POST', headers, body })
    return { id: stream.headers.get('x-session-id') ?? '', stream }
  }
  const say = async (message: string, sessionId?: string) => {
    const { id, stream } = await chat(message, sessionId)
    await stream.text()
    return id
  }
  const cancel = (id: string) =>
    client.POST('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/cancel', {
      params: { path: { ...path, session_id: id } },
    })
  const id = await say('Which lamps suit a small reading room?')
  await say(tool, id)
  await say('/fail 6', id)
  const cancelled = chat('/slow 40', id)
  await cancel((await cancelled).id)
  await say('Thank you, that helps.', id)
  for (const question of ['Compare the two dimmers', 'Draft the release notes', 'Why does batch 12 hum?'])
    await say(question)
  const session = `agent=${demoAgent}&session=${id}`
  // Not by the shot's path: while a stream is open the network is never idle.
  const goto = async (page: Page, address: string, until = '[data-state=idle]') => {
    await page.goto(address)
    await page.locator(until).first().waitFor()
  }
  const live = async (page: Page) => {
    await cancel(id)
    await goto(page, `/chart?${session}`)
    await page.locator('[data-state][data-lit]').first().waitFor()
    await chat('/slow 60', id)
    await page.locator('[data-state="streaming.generating"][data-lit]').waitFor()
  }
  const replay = async (page: Page) => {
    await goto(page, `/chart?view=replay&${session}`)
    const forward = page.getByRole('button', { name: 'Step', exact: true })
    for (let press = 0; press < 6; press++) await forward.click()
  }
  const actors = async (page: Page) => {
    const running = await Promise.all(['/slow 40', '/slow 60', '/hang'].map((message) => chat(message)))
    await goto(page, '/chart?view=actors', 'table')
    await page.getByRole('row').nth(3).waitFor()
    for (const one of running) await cancel(one.id)
  }
  await take([
    { name: 'chart-live', path: '/', act: live },
    { name: 'chart-replay', path: '/', act: replay },
    { name: 'chart-sequence', path: `/chart?view=sequence&${session}` },
    { name: 'chart-actors', path: '/', act: actors },
  ])
  await cancel(id)
}
