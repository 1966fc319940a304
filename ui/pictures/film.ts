/** Films a page for an animation: shots at a steady pace, and a pointer that shows what is clicked. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import type { Shot } from './animation.ts'

const FRAME_MS = 200

/** Takes pictures until it is stopped; resolves to them. */
export function film(page: Page): () => Promise<Shot[]> {
  const shots: Shot[] = []
  let isOver = false
  const taking = (async () => {
    while (!isOver) {
      const at = performance.now()
      shots.push({ at, png: await page.screenshot() })
      await pause(Math.max(0, FRAME_MS - (performance.now() - at)))
    }
  })()
  taking.catch(() => {}) // `stop` rejects with it
  return async () => {
    isOver = true
    await taking
    return shots
  }
}

// A script sets the styles: the page's policy allows none in HTML.
const pointer = `Object.assign(document.body.appendChild(document.createElement('div')), {id: 'pointer'}).style.cssText =
  'position: fixed; width: 22px; height: 22px; border-radius: 50%; z-index: 9999; left: -60px; top: 60%;' +
  'background: rgb(220 38 38 / .35); border: 2px solid #dc2626; transform: translate(-50%, -50%); pointer-events: none'`

/** For `clickIn`, until the page is loaded anew. */
export const addPointer = (page: Page): Promise<unknown> => page.evaluate(pointer)

/** Where in the target the pointer is seen. */
export type Spot = 'middle' | 'end'

export async function clickIn(page: Page, target: Locator, spot: Spot = 'middle'): Promise<void> {
  const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  const left = spot === 'middle' ? x + width / 2 : x + width - 24
  const place = JSON.stringify({ left: `${left}px`, top: `${y + height / 2}px` })
  await page.evaluate(`Object.assign(document.getElementById('pointer').style, ${place})`)
  await pause(700)
  await target.click()
  await pause(500)
  await page.evaluate(`document.getElementById('pointer').style.left = '-60px'`)
}
