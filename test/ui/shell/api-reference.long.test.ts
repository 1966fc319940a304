/** `/docs`: in the product's own frame, readable by all, and for this version. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser, sidewaysScroll, type TestPage } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const manifest: { version: string } = JSON.parse(
  await readFile(new URL('../../../package.json', import.meta.url), 'utf8'),
)
const axeScript = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

async function findings(page: TestPage): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(await axeScript)
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, {resultTypes: ["violations"]})')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

test.each(['light', 'dark'] as const)('in %s: no finding of axe, closed and open', async (scheme) => {
  await using page = await browser.page(app.url, { scheme })
  await page.goto('/docs')
  await page.getByRole('heading', { level: 1, name: 'Greenroom' }).waitFor()
  await expect.poll(() => page.locator('html.dark-mode').count()).toBe(scheme === 'dark' ? 1 : 0)
  await expect.poll(() => page.locator('.version').first().textContent()).toContain(manifest.version)
  await expect.poll(() => page.getByRole('button', { name: 'Explore' }).count()).toBe(0)
  await expect.poll(() => findings(page)).toEqual([])
  await page.locator('h3.opblock-tag', { hasText: 'agents' }).first().click()
  await page.getByRole('button', { name: /^get \/api\/v1\/agents$/i }).click()
  await page.getByText('List agents, oldest first').first().waitFor()
  await expect.poll(() => findings(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})
