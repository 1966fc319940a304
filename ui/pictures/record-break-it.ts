/**
 * `npm run record:break-it`: records /break-it while its process is killed and started again, into docs/pictures/break-it.gif.
 * Everything in it is real: the page, the processes, what they print, and the seconds. Needs port 8080 and Chromium.
 */
import { rm, writeFile } from 'node:fs/promises'
import { stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type Product, startProduct } from '../../test/support/programs/product.ts'
import { launchBrowser } from '../../test/ui/browser.ts'
import { animationOf, type Shot } from './animation.ts'
import { addPointer, clickIn, film } from './film.ts'

const REST_MS = 4000
/** Short, since the page shows it. */
const dataDir = '/tmp/demo'
const file = new URL('../../docs/pictures/break-it.gif', import.meta.url)

const start = (): Promise<Product> => startProduct({ dataDir, env: { PORT: '8080' } })

// By script, because the page's policy allows no style in HTML.
const terminal = `Object.assign(document.body.appendChild(document.createElement('pre')), {id: 'terminal'}).style.cssText =
  'position: fixed; inset: auto 0 0; height: 116px; margin: 0; padding: 14px 22px; overflow: hidden;' +
  'background: #14161b; color: #d9dce3; font: 14px/22px monospace; z-index: 9998'`

/** A terminal below the page. */
function createTerminal(page: Page) {
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
  await page.evaluate(terminal)
  await addPointer(page)
  const { print, type } = createTerminal(page)
  await print(`$ DATA_DIR=${dataDir} npm start`, ...first.stderr.slice(-1))
  const stop = film(page)
  await clickIn(page, button('Start'), 'end')
  await more(page, 90)
  await clickIn(page, button('Drop my connection'), 'end')
  await more(page, 50)
  await clickIn(page, button('Kill this process'), 'end')
  await first.exited
  await print('Killed')
  const asked = (await page.locator('code').textContent()) ?? ''
  await pause(1500)
  await type(asked)
  const second = await start()
  await print(...second.stderr.slice(-1))
  await page.getByText('Connected again after').nth(1).waitFor()
  await more(page, 130)
  const faults = await page.getByRole('alert').allTextContents()
  if (faults.length > 0) throw new Error(`The recording would end in a red banner: ${faults.join(' ')}`)
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
