/** What surrounds the playground's messages: drafts, sessions, code, scrolling, and a model's Markdown. */
import { afterAll, expect, test } from 'vitest'
import { axe, focused, sidewaysScroll, type TestPage, unique } from '../browser.ts'
import {
  atRest,
  conversation,
  field,
  replies,
  say,
  sessionOf,
  soon,
  startPlayground,
  statuses,
} from './playground-scene.ts'

const { app, up, agentId, playground, open, byHand, close } = await startPlayground()
afterAll(close)

test('drafts are kept for each session, over a reload too', async () => {
  await using page = await open()
  await say(page, 'Alpha')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await sessionOf(page)
  await field(page).fill('half a thought')
  await page.getByRole('link', { name: 'New session' }).first().click()
  await page.getByText('Talk to Agent').waitFor()
  await soon(() => field(page).inputValue()).toBe('')
  await page.goBack()
  await soon(() => field(page).inputValue()).toBe('half a thought')
  await page.reload()
  await soon(() => field(page).inputValue()).toBe('half a thought')
})

test('the first page leads back to the sessions of late', async () => {
  await using page = await open()
  await say(page, 'A question that is far too long for a narrow card, and for a small screen as well')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.goto('/')
  const session = page.getByRole('region', { name: 'Recent sessions' }).getByRole('link').first()
  await session.waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await session.click()
  await replies(page).getByText('Fine.').waitFor()
})

test('sessions are searched and deleted after a confirmation that says what is lost', async () => {
  await using page = await open()
  const title = unique('Zebra crossing')
  await say(page, title)
  await sessionOf(page)
  // Below its title the session is found by its message, with a link of its own.
  const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: title }).first()
  await row.waitFor()
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('nothing like it')
  await page.getByText('No results').waitFor()
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill(title)
  await row.waitFor()
  await page.getByRole('button', { name: `Delete the session “${title}”` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Its messages are deleted permanently').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(new RegExp(`${playground}$`))
  await row.waitFor({ state: 'detached' })
})

test('an archived session is taken back in the toast; the Delete key asks, and leaves the focus in the list', async () => {
  await using page = await open()
  const word = unique('Heron')
  await say(page, `${word} one`)
  await sessionOf(page)
  await page.getByRole('link', { name: 'New session' }).first().click()
  await page.getByText('Talk to Agent').waitFor()
  await say(page, `${word} two`)
  await sessionOf(page)
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  const row = (title: string) => sessions.getByRole('listitem').filter({ hasText: title }).getByRole('link').first()
  await row(`${word} one`).hover()
  await page.getByRole('button', { name: `Archive the session “${word} one”` }).click()
  await row(`${word} one`).getByText('archived').waitFor()
  await page
    .getByRole('alert')
    .filter({ hasText: `Archived “${word} one”.` })
    .getByRole('button', { name: 'Undo' })
    .click()
  await row(`${word} one`).getByText('archived').waitFor({ state: 'detached' })
  await row(`${word} one`).focus()
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Its messages are deleted permanently').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await soon(() => focused(page)).toContain(`${word} one`)
  await page.keyboard.press('Delete')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await row(`${word} one`).waitFor({ state: 'detached' })
  await sessions.locator('li :focus').waitFor()
})

test('a session that another one deletes during the question leaves the focus in the list', async () => {
  await using page = await open()
  const word = unique('Ibis')
  await say(page, `${word} one`)
  const id = await sessionOf(page)
  await page.getByRole('link', { name: 'New session' }).first().click()
  await page.getByText('Talk to Agent').waitFor()
  await say(page, `${word} two`)
  await sessionOf(page)
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  const row = (title: string) => sessions.getByRole('link', { name: title }).first()
  await row(`${word} one`).focus()
  await page.keyboard.press('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor()
  await app.sql`delete from sessions where id = ${id}`
  await row(`${word} one`).waitFor({ state: 'detached' })
  await sessions.locator('li :focus').waitFor()
})

test('the request at hand is given as code with this server’s address', async () => {
  await using page = await open()
  await field(page).fill("What's new?")
  await page.getByRole('button', { name: 'Code' }).click()
  const dialog = page.getByRole('dialog', { name: 'Code' })
  await dialog.getByText(`${app.url}/api/v1/agents/${agentId}/deploy`).first().waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('tab', { name: 'Python' }).click()
  await dialog.getByText('from openai import OpenAI').waitFor()
})

test('the newest stays in sight until the reader scrolls up, and a button leads back', async () => {
  await using page = await open(playground, { height: 500 })
  const next = byHand()
  await say(page, 'Long')
  const call = await next
  const box = conversation(page)
  for (let line = 0; line < 40; line++) await call.text(`Line ${line}\n\n`)
  await page.getByText('Line 39').waitFor()
  await soon(() => box.evaluate(below)).toBeLessThan(5)
  await box.hover()
  await page.mouse.wheel(0, -300)
  await page.getByRole('button', { name: 'Jump to newest' }).waitFor()
  const before = await atRest(page, () => box.evaluate((node) => node.scrollTop))
  await call.text('Line 40\n\nLine 41')
  await page.getByText('Line 41').waitFor({ state: 'attached' })
  await expect.poll(() => box.evaluate((node) => node.scrollTop)).toBe(before)
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Jump to newest' }).click()
  await soon(() => box.evaluate(below)).toBeLessThan(5)
  await call.finish()
})

test('a model’s HTML is shown as text, and its links cannot run anything', async () => {
  const text = [
    '# Title',
    '<script>document.title = "taken"</script>',
    'An <img src=x onerror="document.title=1"> and [bad](javascript:alert(1)), [data](data:text/html,x).',
    '[good](https://example.com/a) ![picture](https://example.com/p.png)',
    '```js\nconst x = "<b>"\n```',
    '| a | b |\n|---|---|\n| 1 | 2 |',
  ].join('\n\n')
  up.next(async (call) => {
    await call.text(text)
    await call.finish()
  })
  await using page = await open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await say(page, 'Show')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const reply = replies(page)
  await reply.getByText('<script>').waitFor()
  await expect.poll(() => reply.locator('script, img').count()).toBe(0)
  await expect
    .poll(() => reply.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))))
    .toEqual(['https://example.com/a'])
  await reply.getByRole('button', { name: 'Show “picture” from example.com' }).waitFor()
  const link = reply.getByRole('link', { name: 'good' })
  await expect
    .poll(async () => [await link.getAttribute('rel'), await link.getAttribute('target')])
    .toEqual(['noopener noreferrer', '_blank'])
  await reply.locator('.hljs-keyword').getByText('const').waitFor()
  await reply.getByRole('cell', { name: '2' }).waitFor()
  expect(asked.filter((url) => !url.startsWith(app.url))).toEqual([])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

/** A session of so many messages, replies of all heights. */
async function longSession(count: number): Promise<string> {
  const { data } = await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions', {
    params: { path: { agent_id: agentId } },
    body: {},
  })
  const id = data?.id ?? ''
  await app.sql`
    insert into messages (id, session_id, position, role, status, content)
    select gen_random_uuid(), ${id}, n, case n % 2 when 0 then 'user' else 'assistant' end, 'complete',
      'No. ' || n || repeat(E'\n\n- a line', n % 2 * (n * 7 % 23)) from generate_series(0, ${count - 1}::int) n`
  return `${playground}/${id}`
}

test('of a long transcript the end is shown first, and no more is on the page than what is near', async () => {
  await using page = await open(await longSession(300))
  const number = (n: number) => page.getByText(`No. ${n}`, { exact: true })
  const articles = () => page.getByRole('article').count()
  await number(299).waitFor()
  await expect.poll(() => articles()).toBeLessThan(40)
  await expect.poll(() => page.getByRole('article').last().getAttribute('aria-posinset')).toBe('300')
  await expect.poll(() => page.getByRole('article').last().getAttribute('aria-setsize')).toBe('300')
  await conversation(page).focus()
  await page.keyboard.press('Home')
  await soon(() => number(0).isVisible()).toBe(true)
  await expect.poll(() => articles()).toBeLessThan(40)
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Jump to newest' }).click()
  await soon(() => number(299).isVisible()).toBe(true)
  await expect.poll(() => conversation(page).evaluate(below)).toBeLessThan(5)
})

test('what is in sight moves as far as the wheel says while earlier messages come in above it', async () => {
  await using page = await open(await longSession(300))
  await page.getByText('No. 299', { exact: true }).waitFor()
  await conversation(page).hover()
  for (let turn = 0; turn < 20; turn++) {
    const [place, before] = await atRest(page, () => topmost(page))
    await page.mouse.wheel(0, -250)
    const row = page.locator(`[aria-posinset="${place}"]`)
    // Each measured row may be scrolled for by half a pixel more or less.
    await soon(() => row.evaluate((node) => node.getBoundingClientRect().top)).toBeCloseTo(before + 250, -1)
  }
})

test('a tool card that was opened is open still when the reader comes back to it', async () => {
  await using page = await open(await longSession(100))
  up.next(async (call) => {
    await call.toolCall({ id: 'c', name: 'no_such_tool', arguments: '{}' })
    await call.finish('tool_calls')
  })
  await say(page, 'Use it')
  await replies(page).last().getByText('Fine.').waitFor()
  const result = page.locator('details').getByRole('region', { name: 'Result' })
  await page.locator('summary').click()
  await result.waitFor()
  await conversation(page).focus()
  await page.keyboard.press('Home')
  await result.waitFor({ state: 'detached' })
  await page.keyboard.press('End')
  await result.waitFor()
})

/** The first message whose beginning is in sight: its place, and pixels from the window's top. */
const topmost = (page: TestPage): Promise<[place: string, top: number]> =>
  conversation(page).evaluate((box) => {
    const row = [...box.querySelectorAll('article')].find((node) => node.getBoundingClientRect().top >= 100)
    return [row?.getAttribute('aria-posinset') ?? '', Math.round(row?.getBoundingClientRect().top ?? 0)]
  })

const below = ({
  scrollHeight,
  clientHeight,
  scrollTop,
}: Record<'scrollHeight' | 'clientHeight' | 'scrollTop', number>) => scrollHeight - clientHeight - scrollTop
