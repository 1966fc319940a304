/** The page that breaks the demo: real processes, killed and started again, and what the page counts meanwhile. */
import { afterAll, expect, test } from 'vitest'
import { createChecker } from '../../ui/src/break-it/checker.ts'
import { freePort } from '../support/programs/free-port.ts'
import { dataFolder, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from './browser.ts'

const browser = await openBrowser()
afterAll(() => browser.close())
const soon = <T>(read: () => T) => expect.poll(read)

async function counts(page: TestPage) {
  const names = ['shown', 'stored', 'lost', 'contradicted', 'doubled']
  const values = await Promise.all(names.map((name) => page.getByTestId(name).textContent()))
  return Object.fromEntries(names.map((name, index) => [name, Number(values[index]?.replaceAll(',', ''))]))
}
const good = { lost: 0, contradicted: 0, doubled: 0 }
/** Waits until so many more were shown, and as many read back. */
async function more(page: TestPage, frames = 5): Promise<void> {
  const { shown = 0 } = await counts(page)
  await soon(async () => (await counts(page)).stored).toBeGreaterThanOrEqual(shown + frames)
}
const happened = (page: TestPage, words: string | RegExp) =>
  page.getByRole('listitem').filter({ hasText: words }).first().waitFor()

verifies(
  'contract-16.break-it',
  'broken in every way, and killed: it goes on counting, and nothing is lost, contradicted or doubled',
  async () => {
    await using folder = await dataFolder()
    const port = `${await freePort()}`
    const start = () => startProduct({ direct: true, dataDir: folder.path, env: { PORT: port } })
    const first = await start()
    await using page = await browser.page(first.url)
    try {
      // A newcomer is led there: by the last of the first steps, and by the navigation.
      await page.goto('/')
      const steps = page.getByRole('region', { name: 'Get started' }).getByRole('listitem')
      await steps.last().getByRole('link', { name: 'Break it' }).waitFor()
      expect(await steps.filter({ hasText: 'Done' }).count()).toBe(0)
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Break it' }).click()
      await page.getByRole('button', { name: 'Start' }).click()
      await more(page)
      await page.getByText('to be read within a second').waitFor()
      await page.getByRole('button', { name: 'Drop my connection' }).click()
      await happened(page, /^.*The connection broke/)
      await more(page)
      await page.getByRole('button', { name: 'Cut the provider' }).click()
      await happened(page, 'The reply ended there: the provider was cut off')
      await more(page)
      await page.getByRole('button', { name: 'Pause the database for 5 s' }).click()
      await happened(page, 'Database paused')
      await more(page)
      expect(await counts(page)).toMatchObject(good)
      await page.mouse.move(0, 0)
      expect(await axe(page)).toEqual([])
      expect(await sidewaysScroll(page)).toEqual([])

      await page.getByRole('button', { name: 'Kill this process' }).click()
      expect(await first.exited).toMatchObject({ signal: 'SIGKILL' })
    } finally {
      await first[Symbol.asyncDispose]()
    }
    await page.getByText(`PORT=${port} DATA_DIR=${folder.path} node src/main.ts`).waitFor()
    const { shown } = await counts(page)
    await using _second = await start()
    await happened(page, 'Connected again after')
    await page.getByText('The process is dead').waitFor({ state: 'detached' })
    await more(page)
    const after = await counts(page)
    expect(after).toMatchObject(good)
    expect(after.shown).toBeGreaterThan(shown ?? 0)
  },
)

test('the checker tells each kind of harm', () => {
  const checker = createChecker()
  const frame = (id: number, text: string) => checker.saw({ id, replyId: 'r', text })
  expect([frame(2, 'a '), frame(3, 'b '), frame(4, 'c '), frame(3, 'b ')]).toEqual([true, true, true, false])
  const stored = {
    id: 'r',
    content: 'a B ',
    frames: [
      { id: 1, offset: 0 },
      { id: 2, offset: 2 },
      { id: 3, offset: 4 },
    ],
  }
  checker.read(checker.due('r'), [stored])
  expect(checker.counts()).toEqual({ shown: 3, stored: 1, contradicted: 1, lost: 1, doubled: 1 })
  // What came back later was lost all the same.
  checker.read(checker.due(), [{ ...stored, content: 'a b c ', frames: [...stored.frames, { id: 4, offset: 6 }] }])
  expect(checker.counts()).toMatchObject({ stored: 1, contradicted: 1, lost: 1 })
  checker.read(checker.due(), [])
  expect(checker.counts()).toMatchObject({ stored: 0, lost: 2 })
})
