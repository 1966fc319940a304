/** The chart is read without being enlarged, at every width. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser } from '../browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

/** Pixels: of the frame, and of the smallest words as they are drawn. */
const LEAST_HEIGHT = 520
const LEAST_WORDS = 12

interface Measured {
  height: number
  sizes: [words: string, pixels: number][]
}

const measure = `(() => {
  const flow = document.querySelector('.react-flow')
  const sizes = []
  const walker = document.createTreeWalker(flow, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement
    // The library's own name in its corner is no part of the chart.
    if (node.textContent.trim() === '' || !parent.checkVisibility() || parent.closest('.react-flow__attribution')) continue
    const moved = parent.closest('.react-flow__viewport')
    const scale = moved ? new DOMMatrix(getComputedStyle(moved).transform).a : 1
    sizes.push([node.textContent, Number.parseFloat(getComputedStyle(parent).fontSize) * scale])
  }
  return { height: flow.getBoundingClientRect().height, sizes }
})()`

test.each([1440, 1280, 390])('at %i pixels it is high enough, and its words are large enough', async (width) => {
  await using page = await browser.page(app.url, { width })
  await page.goto('/chart')
  const flow = page.locator('.react-flow').first()
  await flow.getByText('generating', { exact: true }).first().waitFor()
  const measured = () => page.evaluate<Measured>(measure)
  // It is fitted into its frame after the first drawing.
  await expect.poll(async () => (await measured()).sizes.filter(([, pixels]) => pixels < LEAST_WORDS)).toEqual([])
  const { height, sizes } = await measured()
  expect(sizes.length).toBeGreaterThan(9)
  // Where it is wider than its card, it does not begin with an empty corner.
  const idle = await flow.getByText('idle', { exact: true }).boundingBox()
  expect(idle?.x).toBeGreaterThan(0)
  expect((idle?.x ?? 0) + (idle?.width ?? 0)).toBeLessThan(width)
  expect(height).toBeGreaterThanOrEqual(LEAST_HEIGHT)
})
