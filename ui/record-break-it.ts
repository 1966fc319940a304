/**
 * `npm run record:break-it`: records /break-it while its process is killed and started again, into docs/pictures/break-it.gif.
 * Everything in it is real: the page, the processes, what they print, and the seconds. Needs port 8080 and Chromium.
 */
import { rm, writeFile } from 'node:fs/promises'
import { stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { type Product, startProduct } from '../test/support/programs/product.ts'
import { launchBrowser } from '../test/ui/browser.ts'
import { animationOf, type Shot } from './animation.ts'

const FRAME_MS = 200
const REST_MS = 4000
/** Short, since the page shows it. */
const dataDir = '/tmp/demo'
const file = new URL('../docs/pictures/break-it.gif', import.meta.url)

const start = (): Promise<Product> => startProduct({ dataDir, env: { PORT: '8080' } })

/** A terminal below the page, and a pointer over it. By script, because the page's policy allows no style in HTML. */
const stage = `
  const add = (tag, id, style) => Object.assign(document.body.appendChild(document.createElement(tag)), {id}).style.cssText = style
  add('pre', 'terminal', 'position: fixed; inset: auto 0 0; height: 116px; margin: 0; padding: 14px 22px; overflow: hidden;' +
    'background: #14161b; color: #d9dce3; font: 14px/22px monospace; z-index: 9998')
  add('div', 'pointer', 'position: fixed; width: 22px; height: 22px; border-radius: 50%; z-index: 9999; left: -60px; top: 60%;' +
    'background: rgb(220 38 38 / .35); border: 2px solid #dc2626; transform: translate(-50%, -50%); pointer-events: none')`

function createStage(page: Page) {
  const lines: string[] = []
  const show = () =>
    page.evaluate(`document.getElementById('terminal').textContent = ${JSON.stringify(lines.slice(-4).join('\n'))}`)
  return {
    async print(...more: string[]) {
      lines.push(...more)
      await show()
    },
    async type(command: string) {
      lines.push('$ ')
      for (const letter of command) {
        lines[lines.length - 1] += letter
        await show()
        await pause(45)
      }
    },
    async click(target: Locator) {
      const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
      const at = [x + width - 24, y + height / 2].map((pixels) => `${pixels}px`)
      await page.evaluate(
        `Object.assign(document.getElementById('pointer').style, {left: '${at[0]}', top: '${at[1]}'})`,
      )
      await pause(700)
      await target.click()
      await pause(500)
      await page.evaluate(`document.getElementById('pointer').style.left = '-60px'`)
    },
  }
}

/** Takes pictures until it is stopped; resolves to them. */
function film(page: Page): () => Promise<Shot[]> {
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

const numberAt = async (page: Page, name: string): Promise<number> =>
  Number((await page.getByTestId(name).textContent())?.replaceAll(',', ''))

/** Waits until so many more frames were shown. */
async function more(page: Page, frames: number): Promise<void> {
  const goal = (await numberAt(page, 'shown')) + frames
  while ((await numberAt(page, 'shown')) < goal) await pause(50)
}

async function play(page: Page, first: Product): Promise<{ second: Product; shots: Shot[] }> {
  await page.goto('/break-it')
  const button = (name: string) => page.getByRole('button', { name })
  await page.evaluate(stage)
  const { print, type, click } = createStage(page)
  await print(`$ DATA_DIR=${dataDir} npm start`, ...first.stderr.slice(-1))
  const stop = film(page)
  await click(button('Start'))
  await more(page, 90)
  await click(button('Drop my connection'))
  await more(page, 50)
  await click(button('Kill this process'))
  await first.exited
  await print('Killed')
  const asked = (await page.locator('code').textContent()) ?? ''
  await pause(1500)
  await type(asked)
  const second = await start()
  await print(...second.stderr.slice(-1))
  await page.getByText('Connected again after').nth(1).waitFor()
  await more(page, 130)
  return { second, shots: await stop() }
}

await rm(dataDir, { recursive: true, force: true })
const browser = await launchBrowser()
try {
  await using first = await start()
  await using page = await browser.page(first.url, { width: 1280, height: 900 })
  const { second, shots } = await play(page, first)
  await second[Symbol.asyncDispose]()
  const gif = animationOf(shots, REST_MS)
  await writeFile(file, gif)
  stdout.write(`${shots.length} shots, ${Math.round(gif.length / 1000)} kB\n`)
} finally {
  await browser.close()
  await rm(dataDir, { recursive: true, force: true })
}
