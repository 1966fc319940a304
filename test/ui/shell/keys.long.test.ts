/** What the keyboard does beside writing: it goes to pages, along rows, and folds what stands beside the conversation. */
import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { axe, openBrowser } from '../browser.ts'
import { chartScene, until } from '../chart/chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
for (let n = 1; n <= 15; n += 1) await scene.say(`Question ${n}`)
const failed = await scene.say('/fail 3')
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const widthOf = async (locator: Locator) => (await locator.boundingBox())?.width

test('the sessions are fewer than forty stops of the tab key, and the focus goes along with the arrows', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await until(() => rows.count()).toBeGreaterThan(16)
  const stops = await page.evaluate<number>(`[...document.querySelectorAll('a, button, input')].filter(
    (one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility()).length`)
  expect(stops).toBeLessThan(40)
  await rows.nth(1).getByRole('link').first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await until(() =>
    rows
      .nth(2)
      .getByRole('link', { name: 'Question 15', exact: true })
      .evaluate((one) => one.matches(':focus')),
  ).toBe(true)
  await page.keyboard.press('x')
  await page.getByRole('checkbox', { name: 'Select “Question 15”', checked: true }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
})

const lookOf = (words: string) => `(({ ${words} }) => [${words}].join(' '))`

test('keys have one look, in the frame, on a page and in the list of all', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  await page.getByText('deletes what is selected').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  const look = lookOf('fontFamily, fontSize, fontWeight, lineHeight, borderWidth, borderRadius, padding')
  const looks = await page.evaluate<string[]>(
    `[...document.querySelectorAll('kbd')].map((key) => ${look}(getComputedStyle(key)))`,
  )
  expect(looks.length).toBeGreaterThan(20)
  expect(new Set(looks).size).toBe(1)
})

test('what has the focus has one ring, whatever it is', async () => {
  await using page = await browser.page(app.url)
  for (const [path, last] of [
    ['/sessions', page.getByText('deletes what is selected')],
    [`/agents/${scene.agentId}?section=tools`, page.getByRole('switch').first()],
  ] as const) {
    await page.goto(path)
    await last.waitFor({ state: 'attached' })
    // From now on the browser shows what has the focus.
    await page.keyboard.press('Tab')
    const rings = await page.evaluate<string[]>(`
      [...document.querySelectorAll('a, button, input, textarea')].flatMap((one) => {
        one.focus()
        if (!one.matches(':focus-visible')) return []
        // A hidden input's stand-in has its ring.
        return [one, one.nextElementSibling].flatMap((at) => {
          const { outlineStyle, outlineColor } = at ? getComputedStyle(at) : {}
          return at && outlineStyle !== 'none' ? [outlineColor + ' at ' + one.outerHTML.slice(0, 80)] : []
        })
      })`)
    expect(rings.length).toBeGreaterThan(25)
    expect(rings.filter((ring) => !ring.startsWith('rgb(61, 111, 156)'))).toEqual([])
  }
})

test('G and another key lead to a page, but not where something is typed', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/usage')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  // A busy machine takes its time between two keys.
  await page.evaluate(`void Object.defineProperty(Event.prototype, 'timeStamp', { get: () => 0 })`)
  await page.keyboard.type('gs')
  await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
  await page.getByRole('search').locator('input').focus()
  await page.keyboard.type('gh')
  await until(() => page.getByRole('search').locator('input').inputValue()).toBe('gh')
  await expect.poll(() => new URL(page.url()).pathname).toBe('/sessions')
})

test('the sessions beside a conversation fold away and stay folded, which leaves it more than 720 pixels', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${scene.agentId}/${failed}`)
  const list = page.getByRole('navigation', { name: 'Sessions' })
  await list.waitFor()
  await page.getByRole('complementary', { name: 'Workbench' }).waitFor()
  await page.getByRole('button', { name: 'Sessions', exact: true }).click()
  await list.waitFor({ state: 'detached' })
  await until(() => widthOf(page.getByRole('region', { name: 'Chat' }))).toBeGreaterThan(720)
  await page.reload()
  await page.getByText('The provider answered with an error').waitFor()
  await expect.poll(() => list.count()).toBe(0)
  expect(await axe(page)).toEqual([])
  await page.getByRole('log').focus()
  await page.keyboard.press(']')
  await list.waitFor()
})

test('the navigation folds to its icons and stays folded', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  const width = () => widthOf(page.getByRole('navigation', { name: 'Main' }))
  await page.getByRole('button', { name: 'Fold the navigation' }).click()
  await until(width).toBe(48)
  await page.reload()
  await page.getByRole('link', { name: 'Approvals', exact: true }).waitFor()
  await expect.poll(width).toBe(48)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('[')
  await until(width).toBe(208)
})

test('beside the workbench the navigation leaves the conversation more than 720 pixels, unless the reader unfolds it', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${scene.agentId}/${failed}`)
  const width = () => widthOf(page.getByRole('navigation', { name: 'Main' }))
  await page.getByRole('navigation', { name: 'Sessions' }).waitFor()
  await page.getByRole('complementary', { name: 'Workbench' }).waitFor()
  await until(() => widthOf(page.getByRole('region', { name: 'Chat' }))).toBeGreaterThan(720)
  await expect.poll(width).toBe(48)
  expect(await axe(page)).toEqual([])
  await page.getByRole('link', { name: 'Approvals', exact: true }).click()
  await until(width).toBe(208)
  await page.goBack()
  await until(width).toBe(48)
  await page.getByRole('button', { name: 'Workbench', exact: true }).click()
  await until(width).toBe(208)
  await page.getByRole('button', { name: 'Workbench', exact: true }).click()
  await until(width).toBe(48)
  await page.getByRole('button', { name: 'Unfold the navigation' }).click()
  await until(width).toBe(208)
  await page.reload()
  await page.getByText('The provider answered with an error').waitFor()
  await expect.poll(width).toBe(208)
})

test('a dialog that Escape closes gives the focus back to what opened it', async () => {
  await using page = await browser.page(app.url)
  for (const [path, name] of [
    ['/usage', 'Prices'],
    ['/agents/new', 'New provider'],
    [`/playground/${scene.agentId}/${failed}`, 'Code'],
    [`/playground/${scene.agentId}/${failed}`, 'Share this session'],
    [`/playground/${scene.agentId}/${failed}`, 'User and metadata'],
  ] as const) {
    await page.goto(path)
    const opener = page.getByRole('button', { name, exact: true })
    await opener.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await until(() => page.locator('[role=dialog] :focus').count()).toBe(1)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await until(() => opener.evaluate((one) => one.matches(':focus'))).toBe(true)
  }
  const field = page.getByRole('textbox', { name: /^Message/ })
  await field.focus()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to' }).waitFor()
  await page.keyboard.press('Escape')
  await until(() => field.evaluate((one) => one.matches(':focus'))).toBe(true)
})

test('on a phone a drawer that Escape closes gives the focus back to what opened it', async () => {
  await using page = await browser.page(app.url, { width: 390, height: 800 })
  await page.goto(`/playground/${scene.agentId}/${failed}`)
  for (const name of ['Sessions', 'Workbench']) {
    const opener = page.getByRole('button', { name, exact: true })
    await opener.focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name })
    await drawer.waitFor()
    await until(() => page.locator('[role=dialog]:focus, [role=dialog] :focus').count()).toBe(1)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await until(() => opener.evaluate((one) => one.matches(':focus'))).toBe(true)
  }
})

test('the bar that saves covers no field that has the focus', async () => {
  await using page = await browser.page(app.url, { height: 500 })
  await page.goto('/keys/new')
  await page.getByRole('textbox', { name: 'Name' }).focus()
  const [covered, last] = [new Set<string>(), page.getByRole('button', { name: 'Create key' })]
  while (!(await last.evaluate((one) => one.matches(':focus')))) {
    covered.add(
      await page.evaluate<string>(`(({ activeElement: at }) => {
        const bar = document.querySelector('main button[type=submit]').parentElement.getBoundingClientRect()
        return at.getBoundingClientRect().bottom > bar.top ? at.outerHTML : ''
      })(document)`),
    )
    await page.keyboard.press('Tab')
  }
  expect([...covered]).toEqual([''])
})

test('a link that has the focus is seen: the agent’s, beside the longest title', async () => {
  const sessionId = await scene.say('Tell me which cellars keep their temperature over the summer')
  await using page = await browser.page(app.url, { width: 1280, height: 800 })
  await page.goto(`/playground/${scene.agentId}/${sessionId}`)
  const head = page.getByRole('region', { name: 'Chat' })
  await head.getByText('Tell me which cellars').first().waitFor()
  const link = head.locator(`a[href="/agents/${scene.agentId}"]`).first()
  await head.getByRole('button', { name: /^Rename/ }).focus()
  await page.keyboard.press('Tab')
  await until(() => link.evaluate((one) => one.matches(':focus-visible'))).toBe(true)
  const isSeen = () =>
    link.evaluate((one): boolean => {
      const { left, top, width, height } = one.getBoundingClientRect()
      return one.contains(one.ownerDocument.elementFromPoint(left + width / 2, top + height / 2))
    })
  await until(isSeen).toBe(true)
})

test('on a phone the search of a list is as wide as the list', async () => {
  await using page = await browser.page(app.url, { width: 390, height: 800 })
  await page.goto('/agents')
  const search = page.getByRole('searchbox')
  await search.waitFor()
  await until(() => widthOf(search)).toBeGreaterThan(340)
})
