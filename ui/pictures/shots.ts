/**
 * Pictures of every page, light and dark, wide and narrow, with demo data: `npm run shots [-- FOLDER [WORD [LOOK]]]`. The
 * folder is ui/shots where none is named; with a word only pages whose name holds it are taken, with several, separated by
 * commas, those of any. Looks are named likewise: `light-1280,dark-390` are these two of the eight.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, stderr } from 'node:process'
import type { Page } from 'playwright-core'
import { type Product, startProduct } from '../../test/support/programs/product.ts'
import { launchBrowser } from '../../test/ui/browser.ts'
import { withAdminShots } from './admin-shots.ts'
import { followRest } from './at-rest.ts'
import { withChartShots } from './chart-shots.ts'
import { withLaterShots } from './later-shots.ts'
import { withPlaygroundShots } from './playground-shots.ts'
import { usageShots } from './usage-shots.ts'

export interface Shot {
  name: string
  path: string
  /** Brings the page to where the picture is taken. */
  act?: (page: Page) => Promise<unknown>
  /** The whole length of the page. */
  full?: boolean
}

const folder = argv[2] ?? join(import.meta.dirname, '../shots')
const words = (argv[3] ?? '').split(',')
const looks = (argv[4] ?? '').split(',')

const demoPrompts = [
  ['Support, friendly', 'You are the support agent of Lantern, a shop for reading lamps. Answer in two sentences.'],
  [
    'Release notes',
    'Turn a list of commits into release notes for people who use the product, not for those who build it.',
  ],
  [
    'SQL reviewer',
    'Review SQL for correctness first, then for speed. Quote the line you mean. Never rewrite the whole query.',
  ],
] as const

/** What the pages show; resolves to the pages. */
async function demoData({ client }: Product): Promise<Shot[]> {
  let prompt = ''
  for (const [name, content] of demoPrompts) {
    const { data } = await client.POST('/api/v1/prompts', { body: { name, content } })
    prompt ||= data?.id ?? ''
  }
  const openPalette = async (page: Page) => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Go to' }).fill('re')
    await page.getByText('Release notes').waitFor()
  }
  return [
    { name: 'palette', path: '/', act: openPalette },
    { name: 'prompts', path: '/prompts' },
    { name: 'prompt', path: `/prompts/${prompt}` },
    {
      name: 'prompt-delete',
      path: `/prompts/${prompt}`,
      act: (page) => page.getByRole('button', { name: 'Delete' }).click(),
    },
  ]
}

const login: Shot[] = [{ name: 'login', path: '/' }]

async function take(product: Product, shots: Shot[]): Promise<void> {
  const browser = await launchBrowser()
  try {
    for (const scheme of ['light', 'dark'] as const) {
      for (const [width, height] of [
        [1600, 900],
        [1440, 900],
        [1280, 800],
        [390, 844],
      ] as const) {
        if (!looks.some((look) => `${scheme}-${width}`.includes(look))) continue
        for (const { name, path, act, full = false } of shots.filter((shot) =>
          words.some((word) => shot.name.includes(word)),
        )) {
          await using page = await browser.page(product.url, { width, height, scheme })
          const atRest = followRest(page)
          const rest = async () => {
            const late = await atRest()
            if (late !== null) stderr.write(`${name}-${scheme}-${width} is taken before it is whole: ${late}\n`)
          }
          await page.goto(path)
          await rest()
          if (act) {
            await act(page)
            await rest()
          }
          // Not `fullPage`: what sticks to the window's bottom would lie in the middle of the picture.
          if (full) {
            const all = await page.evaluate<number>('document.documentElement.scrollHeight')
            await page.setViewportSize({ width, height: Math.max(height, all) })
            await rest()
          }
          await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`), animations: 'disabled' })
        }
      }
    }
  } finally {
    await browser.close()
  }
}

/** A product on a database of its own, which goes with it. */
async function withProduct(env: Record<string, string>, use: (product: Product) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'greenroom-shots-'))
  try {
    await chmod(dataDir, 0o755) // the database's OS user must pass
    await using product = await startProduct({ dataDir, env, direct: true })
    await use(product)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

await mkdir(folder, { recursive: true })
await withProduct({}, async (product) => {
  await take(product, await demoData(product))
  await take(product, usageShots)
  await withAdminShots(product, (shots) => take(product, shots))
  await withPlaygroundShots(product, (shots) => take(product, shots))
  await withChartShots(product, (shots) => take(product, shots))
  await withLaterShots(product, (shots) => take(product, shots))
})
await withProduct({ AUTH_CREDENTIALS: 'anna:secret-word' }, (product) => take(product, login))
