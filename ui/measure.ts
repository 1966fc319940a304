/**
 * What the workbench costs a visitor, as a table: `npm run measure:ui`. Its JavaScript, the work of a frame while a reply
 * comes at 300 tokens a second, and Lighthouse's figures on both presets. Nothing else should run meanwhile.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setInterval as ticks } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { startUpstream } from '../test/support/network/upstream.ts'
import { startProduct } from '../test/support/programs/product.ts'
import { systemPart } from '../test/support/programs/system-parts.ts'
import { launchBrowser } from '../test/ui/browser.ts'

// Fetched for the measurement alone.
const LIGHTHOUSE = 'lighthouse@13.5.0'
const LIGHTHOUSE_RUNS = 3
const TOKENS_A_SECOND = 300
const SECONDS = 10

const run = promisify(execFile)
const say = (line: string) => process.stdout.write(`${line}\n`)

async function javaScript(page: Page, path: string): Promise<string> {
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') sizes.push(request.sizes().then((size) => size.responseBodySize))
  })
  await page.goto(path, { waitUntil: 'networkidle' })
  page.removeAllListeners('requestfinished')
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  return `${Math.round(bytes / 1000)} kB`
}

/**
 * Times between frames, and the processor time that the page's thread took for each: other programs do not add to it.
 */
async function frames(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
  const before = await worked()
  const gaps = await page.evaluate<number[]>(`new Promise((resolve) => {
    const gaps = []
    const begin = performance.now()
    let last = begin
    const next = (now) => {
      gaps.push(now - last)
      last = now
      if (now - begin < ${(SECONDS - 2) * 1000}) requestAnimationFrame(next)
      else resolve(gaps)
    }
    requestAnimationFrame(next)
  })`)
  const work = ((await worked()) - before) * 1000
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
  return `${gaps.length} frames; between them p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; work ${(work / gaps.length).toFixed(1)} ms a frame`
}

interface Report {
  environment: { benchmarkIndex: number }
  categories: Record<string, { score: number | null }>
  audits: Record<string, { displayValue?: string } | undefined>
}

/** Names of the audits that the figure for performance is made of. */
const metrics = {
  FCP: 'first-contentful-paint',
  LCP: 'largest-contentful-paint',
  TBT: 'total-blocking-time',
  CLS: 'cumulative-layout-shift',
  SI: 'speed-index',
}

/** The run in the middle by its performance; `machine`: Lighthouse's own figure of how fast this one was meanwhile. */
async function lighthouse(url: string, preset: 'mobile' | 'desktop', folder: string): Promise<string> {
  const reports: Report[] = []
  for (let n = 0; n < LIGHTHOUSE_RUNS; n += 1) reports.push(await lighthouseOnce(url, preset, folder))
  const performance = ({ categories }: Report) => categories.performance?.score ?? 0
  const middle = reports.toSorted((a, b) => performance(a) - performance(b))[Math.floor(reports.length / 2)]
  if (middle === undefined) return '–'
  const scores = Object.entries(middle.categories).map(
    ([name, { score }]) => `${name} ${score === null ? '–' : Math.round(score * 100)}`,
  )
  const times = Object.entries(metrics).map(([name, audit]) => `${name} ${middle.audits[audit]?.displayValue ?? '–'}`)
  return `${scores.join(', ')}; ${times.join(', ')}; machine ${Math.round(middle.environment.benchmarkIndex)}`
}

/**
 * Chromium's headless build shows the first frame of an emulated screen one or two seconds after it is ready, at some
 * loads and not at others, these pages' scripts or not; Lighthouse then takes all that was loaded by then for what the
 * frame waited for. So the window itself has the size and density of the preset's phone; network and processor are
 * simulated as always.
 */
const phone = ['--window-size=412,823', '--force-device-scale-factor=1.75']

const presets = {
  mobile: { flags: phone, options: ['--screenEmulation.disabled'] },
  desktop: { flags: [], options: ['--preset=desktop'] },
} as const

async function lighthouseOnce(url: string, preset: 'mobile' | 'desktop', folder: string): Promise<Report> {
  const path = join(folder, `${preset}.json`)
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', ...presets[preset].flags].join(' ')
  const options = ['--quiet', '--output=json', `--output-path=${path}`, `--chrome-flags=${flags}`]
  await run('npx', ['--yes', LIGHTHOUSE, url, ...options, ...presets[preset].options], {
    env: { ...process.env, CHROME_PATH: systemPart('chromium-headless-shell') },
  })
  return JSON.parse(await readFile(path, 'utf8'))
}

const folder = await mkdtemp(join(tmpdir(), 'greenroom-measure-'))
await chmod(folder, 0o755) // the database's OS user must pass
const up = await startUpstream()
try {
  await using product = await startProduct({ dataDir: folder, env: {} })
  const { client, url } = product
  const provider = await client.POST('/api/v1/settings/providers', {
    body: { name: 'Measured', providerType: 'openai-compatible', baseUrl: up.url, apiKey: 'none' },
  })
  const agent = await client.POST('/api/v1/agents', {
    body: { name: 'Measured', providerId: provider.data?.id ?? '', model: 'measured' },
  })
  const path = `/playground/${agent.data?.id}`
  up.always(async (call) => {
    let sent = 0
    for await (const _ of ticks(10)) {
      for (let n = 0; n < TOKENS_A_SECOND / 100; n += 1) await call.text(sent++ % 60 === 0 ? '\n\nAnd ' : 'lamp ')
      if (sent > TOKENS_A_SECOND * SECONDS) break
    }
    await call.finish()
  })
  const browser = await launchBrowser()
  {
    await using page = await browser.page(url, { fresh: true })
    say(`JavaScript of the workbench: ${await javaScript(page, path)}`)
    await page.getByRole('textbox', { name: 'Message' }).fill('Go')
    await page.keyboard.press('Enter')
    await page.getByText('And lamp').first().waitFor()
    say(`${TOKENS_A_SECOND} tokens a second: ${await frames(page)}`)
  }
  await browser.close()
  for (const preset of ['mobile', 'desktop'] as const) {
    for (const [name, where] of [
      ['Home', '/'],
      ['workbench', path],
    ] as const) {
      say(`Lighthouse, ${preset}, ${name}: ${await lighthouse(`${url}${where}`, preset, folder)}`)
    }
  }
} finally {
  await up.close()
  await rm(folder, { recursive: true, force: true })
}
