/** What the first page costs a visitor, and that it comes compressed. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../support/app.ts'
import { openBrowser } from './browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const mostBytes = 255_000

test('the first page, font and all, is under 255 KB on the wire', async () => {
  await using page = await browser.page(app.url, { fresh: true })
  const sizes = new Map<string, number>()
  page.on('requestfinished', async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes()
    sizes.set(new URL(request.url()).pathname, responseBodySize + responseHeadersSize)
  })
  await page.goto('/', { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const files = [...sizes].filter(([path]) => path.startsWith('/assets/'))
  expect(files.some(([path]) => path.endsWith('.woff2'))).toBe(true)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  expect(total, JSON.stringify(Object.fromEntries(sizes))).toBeLessThan(mostBytes)
  expect(total).toBeGreaterThan(50_000)
})
