/** The usage page: what was used, by day, agent and model, for the days that are asked for. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bucketsOf } from '../../ui/src/usage/buckets.ts'
import { createAgent, startTestApp, type TestApp } from '../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestBrowser, type TestPage } from './browser.ts'

/** Pages ask again over the network; a machine under load takes its time. */
const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs)
const isoDay = (days: number) => daysAgo(days).toISOString().slice(0, 10)
const names = ['Support desk', 'Release notes for people who read them on small screens']

let app: TestApp
let browser: TestBrowser
beforeAll(async () => {
  app = await startTestApp()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await app?.[Symbol.asyncDispose]()
})

interface Used {
  at: Date
  agentId: string
  model: string
  prompt: number
  completion: number
  estimated?: boolean
}

const used = ({ at, agentId, model, prompt, completion, estimated = false }: Used) => app.sql`
  insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
  values (${randomUUID()}, ${at}, ${agentId}, ${model}, 1, ${prompt}, ${completion}, ${estimated})`

/** Texts of a table's rows, head left out, blanks made one. */
async function rowsOf(page: TestPage, name: string): Promise<string[]> {
  const rows = await page.getByRole('table', { name }).locator('tbody tr').allInnerTexts()
  return rows.map((row) => row.replace(/\s+/g, ' ').trim())
}

const total = async (page: TestPage, label: string) =>
  (
    await page
      .locator('dl > div', { has: page.getByText(label, { exact: true }) })
      .locator('dd')
      .innerText()
  ).replace(/\s+/g, ' ')

test('while nothing was used it says so, and leads to the playground', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Usage' }).click()
  await page.getByText('No replies in this period').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('link', { name: 'Talk to an agent' }).click()
  await page.waitForURL('**/playground**')
})

describe('with replies of two agents, one of them deleted, on three days', () => {
  let gone: string
  beforeAll(async () => {
    const ids = []
    for (const name of names) {
      const { agentId } = await createAgent(app)
      await app.sql`update agents set name = ${name} where id = ${agentId}`
      ids.push(agentId)
    }
    const [first = '', second = ''] = ids
    gone = randomUUID()
    await used({ at: new Date(), agentId: first, model: 'gpt-large', prompt: 1_200_000, completion: 34_567 })
    await used({ at: new Date(), agentId: second, model: 'llama', prompt: 300, completion: 45, estimated: true })
    await used({ at: daysAgo(3), agentId: gone, model: 'llama', prompt: 2000, completion: 500 })
    await used({ at: daysAgo(60), agentId: first, model: 'gpt-large', prompt: 7, completion: 3 })
  })

  test('totals, days, agents and models of the last 30 days; what is estimated is marked', async () => {
    await using page = await browser.page(app.url)
    await page.goto('/usage')
    await page.getByRole('img', { name: '1,202,300 input and 35,112 output tokens, by day' }).waitFor()
    for (const [label, figure] of [
      ['Input tokens', '≈ about 1.2M'],
      ['Output tokens', '≈ about 35.1K'],
      ['Tokens', '≈ about 1.2M'],
      ['Replies', '3'],
    ] as const) {
      await expect.poll(() => total(page, label)).toBe(figure)
    }
    const days = async () => (await rowsOf(page, 'By day')).map((row) => row.replace(/^\d+ \w+ /, ''))
    await expect.poll(days).toEqual(['2 ≈ about 1,234,912', '1 2,500'])
    await page.getByRole('link', { name: names[0] ?? '' }).waitFor()
    await expect
      .poll(() => rowsOf(page, 'By agent'))
      .toEqual([
        `${names[0]} 1 1.2M 34.6K 1.2M`,
        `Deleted agent ${gone.slice(0, 8)} 1 2K 500 2.5K`,
        `${names[1]} 1 ≈ about 300 ≈ about 45 ≈ about 345`,
      ])
    await expect
      .poll(() => rowsOf(page, 'By model'))
      .toEqual(['gpt-large 1 1.2M 34.6K 1.2M', 'llama 2 ≈ about 2.3K ≈ about 545 ≈ about 2.8K'])
    await page.getByText('a tokenizer counted those').waitFor()
    // The plot's library is loaded last: bars of two days, in two parts.
    await expect.poll(() => page.locator('figure path.recharts-rectangle').count()).toBeGreaterThan(2)
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
  })

  test('first token, duration, errors and, with prices, cost; by model and by agent', async () => {
    await app.client.PUT('/api/v1/settings/prices', { body: { currency: '$', prices: [] } })
    await app.sql`
      update token_usage set first_token_ms = 420, duration_ms = 2600, failures = 1 where model = 'gpt-large'`
    await using page = await browser.page(app.url)
    await page.goto('/usage')
    await page.getByRole('table', { name: 'Speed, errors and cost' }).waitFor()
    const rows = () => rowsOf(page, 'Speed, errors and cost')
    await expect.poll(rows).toEqual(['llama – – – 0 %', 'gpt-large 420 ms 420 ms 2.6 s 100 %'])
    await page.getByRole('button', { name: 'Prices' }).click()
    // Those that were used are offered.
    await page.getByRole('combobox', { name: 'Model' }).click()
    await page.getByRole('option', { name: 'gpt-large' }).click()
    await page.getByLabel('Input', { exact: true }).fill('2.5')
    await page.getByLabel('Output', { exact: true }).fill('10')
    expect(await axe(page)).toEqual([])
    // A name can be read on a phone too.
    await page.setViewportSize({ width: 390, height: 844 })
    const field = page.getByRole('combobox', { name: 'Model' })
    await expect.poll(async () => (await field.boundingBox())?.width).toBeGreaterThan(200)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Save prices' }).click()
    await expect.poll(rows).toEqual(['llama – – – 0 % no price', 'gpt-large 420 ms 420 ms 2.6 s 100 % $3.3457'])
    await page.getByText('Agents', { exact: true }).last().click()
    await expect.poll(async () => (await rows()).join()).toContain(names[0])
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
  })

  test('the time lies in the address, by keyboard too', async () => {
    await using page = await browser.page(app.url)
    await page.goto('/usage?days=7')
    const spans = page.getByRole('radiogroup', { name: 'Time' })
    await spans.getByRole('radio', { name: '7 days' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.waitForURL('**/usage?days=90')
    await expect.poll(() => total(page, 'Replies')).toBe('4')
    await page.reload()
    await expect.poll(() => total(page, 'Replies')).toBe('4')
    await expect.poll(() => spans.getByRole('radio', { name: '90 days' }).isChecked()).toBe(true)
  })

  test('days of one’s own choice, both included; the server says what is wrong with them', async () => {
    await using page = await browser.page(app.url)
    await page.goto('/usage')
    await page.getByText('Custom', { exact: true }).click()
    // On a slow machine the address lags behind: the second change must not undo the first.
    const machine = await page.context().newCDPSession(page)
    await machine.send('Emulation.setCPUThrottlingRate', { rate: 12 })
    await page.getByLabel('First day').fill(isoDay(61))
    await page.getByLabel('Last day').fill(isoDay(3))
    await page.waitForURL(`**/usage?from=${isoDay(61)}&to=${isoDay(3)}`)
    await machine.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    await expect.poll(() => total(page, 'Replies')).toBe('2')
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    await page.getByLabel('First day').fill(isoDay(0))
    // Said once, of the page, as soon as all of its parts have been answered.
    await expect.poll(() => page.getByRole('alert').getByText('from: must not be later than to').count()).toBe(1)
    expect(await axe(page)).toEqual([])
    await page.goBack()
    await expect.poll(() => total(page, 'Replies')).toBe('2')
  })
})

test('300 agents are the ten that used most, the sum of the others, and a search: two screens', async () => {
  const { providerId } = await createAgent(app)
  await app.sql`delete from agents where name like 'Crowd %'`
  await app.sql`delete from token_usage where model like 'model-%'`
  await app.sql`
    insert into agents (name, provider_id, model) select 'Crowd ' || i, ${providerId}, 'm' from generate_series(1, 300) i`
  await app.sql`
    insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
    select gen_random_uuid(), now(), id, 'model-' || num % 40, 1, 1000000000 + num, 1, false from agents where name like 'Crowd%'`
  await using page = await browser.page(app.url, { width: 1440, height: 900 })
  await page.goto('/usage')
  const table = page.getByRole('table', { name: 'By agent' })
  await table.getByText('Crowd 300', { exact: true }).waitFor()
  await expect.poll(async () => (await rowsOf(page, 'By agent')).length).toBe(11)
  await table.getByText(/^29\d others$/).waitFor()
  await page.getByRole('table', { name: 'Speed, errors and cost' }).waitFor()
  const height = () => page.evaluate('document.documentElement.scrollHeight')
  await expect.poll(() => height()).toBeLessThanOrEqual(2 * 900)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(height).toBeLessThanOrEqual(2 * 844)
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(await axe(page)).toEqual([])
  await page.getByRole('searchbox', { name: 'Search agents' }).fill('crowd 77')
  await table.getByText('Crowd 77', { exact: true }).waitFor()
  await expect.poll(() => rowsOf(page, 'By agent')).toHaveLength(1)
  await page.getByRole('searchbox', { name: 'Search agents' }).fill('crowd 7')
  await table.getByText('1 other', { exact: true }).waitFor()
})

describe('bars', () => {
  const row = (key: string, totalTokens: number) => ({
    key,
    replies: 1,
    promptTokens: 0,
    completionTokens: totalTokens,
    totalTokens,
    ...{ cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    estimated: false,
    replays: 0,
    feedbackUp: 0,
    feedbackDown: 0,
  })
  const bars = (from: string, to: string, ...keys: string[]) => {
    const { step, buckets } = bucketsOf({ from, to, rows: keys.map((key, index) => row(key, index + 1)) })
    return { step, bars: buckets.map(({ key, totalTokens }) => `${key}:${totalTokens}`) }
  }

  test('each day of the time has one, the last moment excluded', () => {
    expect(bars('2026-02-27T13:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-02-27', '2026-03-01')).toEqual({
      step: 'day',
      bars: ['2026-02-27:1', '2026-02-28:0', '2026-03-01:2'],
    })
    expect(bars('2026-02-27T00:00:00.000Z', '2026-02-27T00:00:00.000Z').bars).toEqual(['2026-02-27:0'])
  })

  test('long times go by weeks from Monday on, then by months from the first reply on', () => {
    const weeks = bars('2026-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z', '2026-01-01', '2026-01-04', '2026-01-05')
    expect([weeks.step, weeks.bars.length, ...weeks.bars.slice(0, 2)]).toEqual([
      ...['week', 22, '2025-12-29:3', '2026-01-05:3'],
    ])
    expect(bars('0001-01-01T00:00:00.000Z', '2026-03-05T00:00:00.000Z', '2026-01-31', '2026-03-01')).toEqual({
      step: 'month',
      bars: ['2026-01-01:1', '2026-02-01:0', '2026-03-01:2'],
    })
  })
})
