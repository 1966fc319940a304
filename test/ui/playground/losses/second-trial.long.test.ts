/** What a second hard trial of the playground found, one test each. */
import { afterAll, expect, test } from 'vitest'
import type { TestPage } from '../../browser.ts'
import { conversation, field, replies, say, soon, startPlayground, statuses } from '../playground-scene.ts'

const { agentId, app, open, byHand, playground, close } = await startPlayground()
afterAll(close)

test('a part of the page that is needed while the server is away is waited for, and the page stays', async () => {
  await using page = await open(playground, { fresh: true, allow: /Failed to|Unable to preload/ })
  const next = byHand()
  await say(page, 'Hang')
  await soon(() => statuses(page)).toEqual(['Waiting for the first token'])
  const server = { away: true }
  await page.route(/\/assets\/|\/livez/, (route) => (server.away ? route.abort('connectionrefused') : route.continue()))
  await page.getByRole('button', { name: 'Code' }).press('Enter')
  await page.getByText('Greenroom cannot be reached').waitFor()
  await conversation(page).getByText('Hang').waitFor()
  server.away = false
  await page.getByRole('dialog', { name: 'Code' }).waitFor()
  await page.keyboard.press('Escape')
  const call = await next
  await call.text('At last')
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
})

/** The next file that is read is gone from the disk. */
const loseFile = (page: TestPage) =>
  page.evaluate(`{
    const read = Blob.prototype.arrayBuffer
    Blob.prototype.arrayBuffer = function () {
      Blob.prototype.arrayBuffer = read
      return Promise.reject(new DOMException('The file could not be read.', 'NotReadableError'))
    }
  }`)

test('a message whose file cannot be read any longer is put back, with its file, and says why', async () => {
  await using page = await open()
  await page.getByTestId('attach').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
  await loseFile(page)
  await say(page, 'What is in it?')
  await page.getByText('The file could not be read.').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('What is in it?')
  await page.getByRole('list', { name: 'To be sent' }).getByText('a.txt').waitFor()
  await field(page).press('Enter')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await expect.poll(() => field(page).inputValue()).toBe('')
})

test('older sessions that cannot be read are not asked for in a loop, and none is listed twice', async () => {
  await app.sql`
    insert into sessions (agent_id, title, updated_at)
    select ${agentId}, 'Older ' || n, now() - n * interval '1 hour' from generate_series(1, 40) n`
  await using page = await open()
  const server = { isBroken: true, asked: 0 }
  const sessions = `/api/v1/agents/${agentId}/playground/sessions`
  await page.route(
    (url) => url.pathname === sessions && url.searchParams.get('offset') === '30',
    (route) => {
      server.asked += 1
      if (server.isBroken) return route.fulfill({ status: 500, json: { message: 'Not now.' } })
      // One of the first page has been overtaken meanwhile.
      return route.continue({ url: route.request().url().replace('offset=30', 'offset=29') })
    },
  )
  const list = page.getByRole('navigation', { name: 'Sessions' })
  const more = list.getByRole('button', { name: 'Show older sessions' })
  await more.scrollIntoViewIfNeeded()
  await soon(() => server.asked).toBeGreaterThan(0)
  // The newest ones are polled: long enough for thousands.
  const isPoll = (url: URL) => url.pathname === sessions && !url.searchParams.has('offset')
  for (const _ of [1, 2]) await page.waitForResponse((response) => isPoll(new URL(response.url())))
  expect(server.asked).toBeLessThan(4)
  server.isBroken = false
  await more.click()
  await soon(async () => {
    const links = await list.getByRole('link').evaluateAll((all) => all.map((link) => Object(link).href))
    return links.length >= 40 && new Set(links).size === links.length
  }).toBe(true)
})

test('a window whose clock is wrong tells times by the server’s', async () => {
  await using slow = await open()
  await slow.clock.install({ time: Date.now() - 600_000 })
  await slow.reload()
  await field(slow).waitFor()
  const next = byHand()
  await say(slow, 'Wait')
  await expect.poll(() => replies(slow).locator('time').first().textContent()).toMatch(/^\d+ s$/)
  const call = await next
  await call.text('Fine.')
  await call.finish()
  await soon(() => statuses(slow)).toEqual(['Complete'])

  await using fast = await open()
  await fast.clock.install({ time: Date.now() + 600_000 })
  await fast.reload()
  const newest = fast.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem').first()
  await newest.getByText(/^(?:just now|(?:1 minute|[2-5] minutes) ago)$/).waitFor()
})

test('what a spreadsheet copies is pasted as text, a picture alone is attached', async () => {
  await using page = await open()
  const paste = (...types: string[]) =>
    page.evaluate<boolean>(`(() => {
      const clipboardData = new DataTransfer()
      for (const type of ${JSON.stringify(types)}) clipboardData.setData(type, 'a')
      clipboardData.items.add(new File(['a'], 'cells.png', { type: 'image/png' }))
      const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })
      return document.querySelector('[aria-label=Message]').dispatchEvent(event)
    })()`)
  const attached = page.getByRole('list', { name: 'To be sent' }).getByRole('listitem')
  expect(await paste('text/plain', 'text/html')).toBe(true)
  expect(await paste('text/html')).toBe(false)
  await soon(() => attached.count()).toBe(1)
})

test('without HTTPS, too, a click copies', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.evaluate(`{
    delete Navigator.prototype.clipboard
    document.addEventListener('copy', () => { globalThis.copied = document.activeElement.value })
    // It says so for a second.
    const look = () => { globalThis.said ||= document.querySelector('[role=tooltip]')?.textContent === 'Copied' }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`)
  const button = replies(page).getByRole('button', { name: 'Copy reply' })
  await button.click()
  await expect.poll(() => page.evaluate('said')).toBe(true)
  await expect.poll(() => page.evaluate('copied')).toBe('Fine.')
  await expect.poll(() => button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
})

test('a title that could not be stored stays in its field', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.getByRole('button', { name: 'Rename this session' }).click()
  const title = page.getByRole('textbox', { name: 'Title of this session' })
  await page.route('**/sessions/*', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 503, json: { message: 'Not now.' } })
      : route.continue(),
  )
  await title.fill('Kept')
  await title.press('Enter')
  await page.getByText('Not now.').waitFor()
  await expect.poll(() => title.inputValue()).toBe('Kept')
  await page.unrouteAll()
  await title.fill('x'.repeat(300))
  await title.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'x'.repeat(200), exact: true }).waitFor()
})
