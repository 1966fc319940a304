/**
 * Measures whether the playground stays smooth: frame times in a real Chromium while a reply of 100,000 characters
 * streams, and while a transcript of 2,000 messages is opened, scrolled and replayed. `npm run bench:ui`; `-- scroll`
 * skips the streaming.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startUpstream, type UpstreamCall } from '../test/support/network/upstream.ts'
import { addAgent, demoAgent, type Product, startProduct } from '../test/support/programs/product.ts'
import { launchBrowser } from '../test/ui/browser.ts'

const replyCharacters = 100_000
const messages = 2_000

/** Runs in the page: frame times and long tasks until `stop`. */
const meter = `
  window.meter = { frames: [], tasks: [], on: true }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.meter.tasks.push(duration)
  }).observe({ type: 'longtask' })
  let last = performance.now()
  requestAnimationFrame(function frame(now) {
    window.meter.frames.push(now - last)
    last = now
    if (window.meter.on) requestAnimationFrame(frame)
  })`

interface Measured {
  frames: number[]
  tasks: number[]
}

async function measured(page: Page, name: string, act: () => Promise<unknown>): Promise<void> {
  const debugging = await page.context().newCDPSession(page)
  await debugging.send('Performance.enable')
  const busySeconds = async () => {
    const { metrics } = await debugging.send('Performance.getMetrics')
    return metrics.find((metric) => metric.name === 'ThreadTime')?.value ?? 0
  }
  const busyBefore = await busySeconds()
  await page.evaluate(meter)
  const begin = performance.now()
  await act()
  const busy = (await busySeconds()) - busyBefore
  const { frames, tasks } = await page.evaluate<Measured>('(window.meter.on = false, window.meter)')
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  const longest = Math.max(0, ...tasks).toFixed(0)
  console.log(
    `${name}: ${((performance.now() - begin) / 1000).toFixed(1)} s, main thread busy for ${busy.toFixed(1)} s, ${frames.length} frames, ` +
      `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; ${tasks.length} tasks over 50 ms, longest ${longest} ms`,
  )
}

const passage = (n: number) => `## Part ${n}

Some **bold** words, a \`name\`, a [link](https://example.com/${n}) and *more* of them, so that a line is filled and broken.

- one thing
- another thing, with a longer text behind it that goes on for a while

\`\`\`ts
export const part${n} = (x: number): number => x * ${n} // a line of code
\`\`\`

`

/** 40 characters at a time, at the speed of a fast model: 4,000 a second. */
async function writeLong(call: UpstreamCall): Promise<void> {
  let text = ''
  for (let n = 1; text.length < replyCharacters; n++) text += passage(n)
  text = text.slice(0, replyCharacters)
  for (let at = 0; at < text.length; at += 40) {
    await call.text(text.slice(at, at + 40))
    await pause(10)
  }
  await call.text('\n\nThe very end.')
  await call.finish()
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.getByRole('textbox', { name: 'Message' }).press('Enter')
}

/** Polls twice a second: a locator would read the whole text on each poll and distort the measurement. */
async function ended(page: Page): Promise<void> {
  const last = "[...document.querySelectorAll('[data-testid=status]')].at(-1)?.textContent === 'Complete'"
  while (!(await page.evaluate<boolean>(last))) await pause(500)
}

async function benchWriting(page: Page, agentId: string): Promise<void> {
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await measured(page, `writing ${replyCharacters} characters of Markdown`, async () => {
    await send(page, 'Go')
    await ended(page)
  })
  await page.goto(`/playground/${demoAgent}`)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await measured(page, 'writing 20,000 words as one paragraph, at once', async () => {
    await send(page, '/long 20000')
    await ended(page)
  })
}

/** A session of many short exchanges, created through the API. */
async function longSession(product: Product): Promise<string | null> {
  const base = `${product.url}/api/v1/agents/${demoAgent}/playground/chat`
  let sessionId: string | null = null
  for (let n = 0; n < messages / 2; n++) {
    const body: string = JSON.stringify({ message: `/echo **Reply-${n}**`, sessionId })
    const response = await fetch(base, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await response.text()
    sessionId = response.headers.get('x-session-id')
  }
  return sessionId
}

async function benchScrolling(page: Page, path: string): Promise<void> {
  await page.goto('/')
  await measured(page, `opening ${messages} messages`, async () => {
    await page.evaluate(`history.pushState({}, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`)
    await page.getByText(`Reply-${messages / 2 - 1}`, { exact: true }).waitFor()
  })
  await page.getByRole('log', { name: 'Conversation' }).hover()
  for (const pixels of [300, 1500]) {
    await measured(page, `scrolling up through all of them, ${pixels} pixels per wheel event`, async () => {
      const isFirst = `document.querySelector('article').ariaPosInSet === '1'`
      while (!(await page.evaluate<boolean>(isFirst))) await page.mouse.wheel(0, -pixels)
    })
    if (pixels === 300) await page.getByRole('button', { name: 'Jump to newest' }).click()
  }
  await measured(page, 'a reply below all of them', async () => {
    await send(page, '/slow 6')
    await page.getByText('1 2 3 4 5 6').waitFor()
  })
}

async function benchReplay(page: Page, query: string): Promise<void> {
  await page.goto('/')
  await measured(page, 'opening the replay of the same session', async () => {
    await page.evaluate(
      `history.pushState({}, '', '/chart${query}&view=replay'); dispatchEvent(new PopStateEvent('popstate'))`,
    )
    await page.locator('[data-state][data-lit]').first().waitFor()
  })
  const slider = page.getByRole('slider', { name: 'Moment' })
  await slider.focus()
  await page.keyboard.press('PageUp')
  await measured(page, 'a hundred steps of it by key', async () => {
    for (let step = 0; step < 100; step++) await page.keyboard.press('ArrowRight')
  })
  await measured(page, 'dragging through it', async () => {
    const box = await slider.boundingBox()
    const width = page.viewportSize()?.width ?? 0
    const y = (box?.y ?? 0) + (box?.height ?? 0) / 2
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, y)
    await page.mouse.down()
    await page.mouse.move(width - 60, y, { steps: 100 })
    await page.mouse.up()
  })
}

const dataDir = await mkdtemp(join(tmpdir(), 'greenroom-bench-'))
await chmod(dataDir, 0o755) // the database's OS user needs access
try {
  await using product = await startProduct({ direct: true, dataDir })
  await using up = await startUpstream()
  up.always(writeLong)
  const browser = await launchBrowser()
  try {
    await using page = await browser.page(product.url)
    if (process.argv[2] !== 'scroll') await benchWriting(page, await addAgent(product, up.url))
    const sessionId = await longSession(product)
    await benchScrolling(page, `/playground/${demoAgent}/${sessionId}`)
    await benchReplay(page, `?agent=${demoAgent}&session=${sessionId}`)
  } finally {
    await browser.close()
  }
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
