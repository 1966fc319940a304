/** The chart is taken into documents: as a picture of its own, and as Mermaid's text. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser, type TestPage } from '../browser.ts'
import { until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

/** What the page puts on the clipboard, whatever the browser permits. */
async function copies(page: TestPage): Promise<() => Promise<string>> {
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
  return () => page.evaluate<string>(`window.copied ?? ''`)
}

test('“Copy as SVG” gives a picture that stands alone, “Copy as Mermaid” the same states as text', async () => {
  const chart: { states: { id: string }[] } = Object(await (await fetch(`${app.url}/api/v1/debug/chart`)).json())
  const states = chart.states.map(({ id }) => id.split('.').at(-1) ?? '')
  expect(states).toContain('generating')
  await using page = await browser.page(app.url)
  await page.goto('/chart')
  await page.getByRole('button', { name: 'All transitions' }).click()
  const svg = page.getByRole('button', { name: 'Copy as SVG' })
  await svg.waitFor()
  const copied = await copies(page)
  await svg.click()
  await page.getByText('Copied as SVG.').waitFor()
  const picture = await copied()
  const drawn = await page.evaluate<{ root: string; texts: string[]; foreign: number }>(`(() => {
    const drawing = new DOMParser().parseFromString(${JSON.stringify(picture)}, 'image/svg+xml')
    return {
      root: drawing.documentElement.nodeName,
      texts: [...drawing.querySelectorAll('text')].map((text) => text.textContent.trim()),
      foreign: drawing.querySelectorAll('foreignObject, script, link, image').length,
    }
  })()`)
  expect([drawn.root, drawn.foreign]).toEqual(['svg', 0])
  expect(drawn.texts).toEqual(expect.arrayContaining(states))
  await page.getByRole('button', { name: 'Copy as Mermaid' }).click()
  await page.getByText('Copied as Mermaid.').waitFor()
  await until(copied).toMatch(/^stateDiagram-v2/)
  for (const state of states) await expect.poll(() => copied()).toContain(state)
})
