/** Pictures of the usage page. A product just started has no history: the weeks that they show are made up here. */
import type { Page } from 'playwright-core'
import { demoAgent } from '../../test/support/programs/product.ts'
import type { Shot } from './shots.ts'

const dayMs = 86_400_000
const models = ['gpt-oss-120b', 'mistral-small-3.2', 'llama-3.3-70b-instruct', 'gemini-flash']

/** Weekdays busier than Sundays, a little more each week; the same at each call. */
function rowOf(key: string, index: number, weight: number, estimated = false) {
  const replies = Math.round(weight * (40 + 9 * Math.sin(index * 2.3) + index))
  const [promptTokens, completionTokens] = [replies * 1830, replies * (410 + 60 * Math.sin(index))].map(Math.round)
  const [read = 0, written = 0] = [promptTokens, completionTokens]
  return { key, replies, promptTokens: read, completionTokens: written, totalTokens: read + written, estimated }
}

function dayRows(from: number, to: number) {
  const days = Array.from({ length: Math.ceil((to - from) / dayMs) }, (_, index) => new Date(from + index * dayMs))
  return days
    .map((day, index) =>
      rowOf(day.toISOString().slice(0, 10), index, [0.2, 1, 1.1, 1, 0.9, 0.8, 0.3][day.getUTCDay()] ?? 1, index === 4),
    )
    .filter((_, index) => index !== 11)
}

const groups = {
  agent: () => [
    rowOf(demoAgent, 900, 1),
    rowOf('6f1c0d52-0000-4000-8000-000000000001', 260, 1.2, true),
    rowOf('a4b7e911-0000-4000-8000-000000000002', 55, 1),
  ],
  model: () => models.map((model, index) => rowOf(model, 600, 1.4 / (index + 1) ** 1.5, index === 2)),
}

const withHistory = async (page: Page) => {
  await page.route('**/api/v1/usage?*', async (route) => {
    const query = new URL(route.request().url()).searchParams
    const now = Date.now()
    const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? new Date(now).toISOString())]
    const groupBy = query.get('groupBy')
    const rows = groupBy === 'agent' || groupBy === 'model' ? groups[groupBy]() : dayRows(from, to)
    await route.fulfill({ json: { from: new Date(from).toISOString(), to: new Date(to).toISOString(), rows } })
  })
  await page.reload()
  await page.locator('.recharts-rectangle').first().waitFor()
}

const overBars = async (page: Page) => {
  await withHistory(page)
  await page.locator('.recharts-surface').first().hover()
}

export const usageShots: Shot[] = [
  { name: 'usage-empty', path: '/usage?from=2020-01-01&to=2020-01-07' },
  { name: 'usage', path: '/usage', act: withHistory, full: true },
  { name: 'usage-custom', path: '/usage?from=2025-01-01&to=2026-06-30', act: overBars },
]
