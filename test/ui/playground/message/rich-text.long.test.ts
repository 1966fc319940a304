/** What a model writes beside plain text: formulas, diagrams, pictures, long code, tables; and finding one's way in it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { axe, sidewaysScroll, type TestPage, unique } from '../../browser.ts'
import { conversation, field, replies, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { up, app, agentId, open, close } = await startPlayground()
afterAll(close)

/** The reply is complete, and its session has its address. */
async function answered(page: TestPage, text: string): Promise<void> {
  up.next((call) => call.text(text).then(() => call.finish()))
  await say(page, 'Show')
  await soon(async () => (await statuses(page)).at(-1)).toBe('Complete')
  await sessionOf(page)
}

const clipboard = async (page: TestPage): Promise<() => Promise<string>> => {
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
  return () => page.evaluate<string>(`window.copied ?? ''`)
}

test('formulas are typeset, and a faulty one stays as it was written', async () => {
  await using page = await open()
  await answered(
    page,
    'So $\\colorbox{red}{x} + \\frac{a}{b}$, but $\\frac{a$.\n\n$$\n\\begin{aligned} a &= b \\\\ \\boxed{c} &= \\sqrt{d} \\end{aligned}\n$$',
  )
  const reply = replies(page)
  await soon(() => reply.locator('math').count()).toBe(2)
  await reply.locator('[data-block] math').waitFor({ state: 'attached' })
  await expect.poll(() => reply.locator('code').allTextContents()).toEqual(['$\\frac{a$'])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a diagram is drawn out of the page’s reach, its source is a click away, and a faulty one is its source', async () => {
  await using page = await open()
  const source = 'flowchart LR\n  A[Ask] --> B{Known?}\n  click A "javascript:alert(1)"'
  await answered(page, `\`\`\`mermaid\n${source}\n\`\`\`\n\nand\n\n\`\`\`mermaid\nflowchart LR\n  A -->\n\`\`\``)
  const reply = replies(page)
  const picture = reply.getByRole('img', { name: 'Diagram' })
  await picture.waitFor()
  await soon(() => picture.evaluate((image) => Object(image).naturalWidth)).toBeGreaterThan(50)
  await reply.getByText('The diagram cannot be drawn').waitFor()
  await reply.getByText('A -->', { exact: false }).first().waitFor()
  await expect.poll(() => page.locator('iframe').count()).toBe(0)
  await expect.poll(() => reply.locator('svg[id^=diagram]').count()).toBe(0)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await reply.getByRole('button', { name: 'Show the source' }).click()
  await reply.getByText('A[Ask]').waitFor()
})

const mermaid = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\``

test('a diagram that is never drawn keeps none behind it from being drawn, and leaves no frame', async () => {
  await using page = await open()
  // As the library does with some sources: it draws one after the other, and this one for ever.
  const library = `let last = Promise.resolve()
    globalThis.mermaid = {
      initialize() {},
      render(id, source) {
        last = last.then(() => (source.includes('never') ? new Promise(() => {}) : { svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>' }))
        return last
      },
    }`
  await page.route(/mermaid.*\.js/, (route) => route.fulfill({ contentType: 'text/javascript', body: library }))
  await answered(page, `${mermaid('never')}\n\nand\n\n${mermaid('drawn')}`)
  await soon(() => page.locator('iframe').getAttribute('sandbox')).toBe('allow-scripts')
  const reply = replies(page)
  await reply.getByRole('img', { name: 'Diagram: drawn' }).waitFor()
  await reply.getByText('The diagram cannot be drawn: it takes too long').waitFor()
  await soon(() => page.locator('iframe').count()).toBe(0)
})

const spoiling = [
  [
    'packet-beta\n0-4294967295: "all"',
    'block-beta\n  columns 1\n  space:1000000000\n  a',
    '%%{init: {"theme": "base", "themeVariables": {"primaryColor": "no colour", "lineColor": "#zz"}}}%%\nflowchart LR\n  A --> B',
  ],
  [
    'stateDiagram-v2\n  state a {\n    a --> a\n  }',
    'stateDiagram-v2\n  a --> b\n  state b {\n    a --> b\n  }',
    'gantt\n  dateFormat YYYY-MM-DD\n  excludes 2024-01-01\n  a :a1, 2024-01-01, 9999y',
  ],
]

test.each(spoiling)('diagrams that are never drawn, or change settings, spoil no other: %#', async (...bad) => {
  await using page = await open()
  for (const [n, source] of bad.entries()) {
    await answered(page, `${mermaid(source)}\n\nand\n\n${mermaid('flowchart LR\n  Fine --> Drawn')}`)
    await soon(() => replies(page).count()).toBe(n + 1)
    const reply = replies(page).last()
    const picture = reply.getByRole('img', { name: /Diagram.*Fine/ })
    await picture.waitFor()
    await soon(() => picture.evaluate((image) => Object(image).naturalWidth)).toBeGreaterThan(50)
  }
  await soon(() => page.locator('iframe').count()).toBe(0)
})

test('a picture is asked for when it is clicked, by a frame that tells its server nothing', async () => {
  const asked: IncomingHttpHeaders[] = []
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const server = createServer(({ headers, url }, response) => {
    asked.push(headers)
    if (url === '/odd.png') response.writeHead(200, { 'content-type': 'image/png' }).end('no picture')
    else response.writeHead(200, { 'content-type': 'image/png' }).end(pixel)
  }).listen(0, '127.0.0.1')
  await using page = await open()
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await answered(page, `![A lamp](${address}/lamp.png) ![Faulty](${address}/odd.png) ![Odd](javascript:alert(1))`)
  const reply = replies(page)
  const show = reply.getByRole('button', { name: 'Show “A lamp”' })
  await show.waitFor()
  expect(asked).toEqual([])
  expect(await axe(page)).toEqual([])
  await show.click()
  await reply.frameLocator('iframe[title="A lamp"]').locator('img').waitFor()
  await soon(() => asked.length).toBe(1)
  expect([asked[0]?.referer, asked[0]?.cookie]).toEqual([undefined, undefined])
  await reply.getByRole('button', { name: 'Show “Faulty”' }).click()
  await reply.getByRole('link', { name: 'Faulty (could not be shown)' }).waitFor()
  await expect.poll(() => reply.getByRole('button', { name: 'Odd' }).count()).toBe(0)
  expect(await sidewaysScroll(page)).toEqual([])
  server.close()
})

test('long code begins folded, wraps if wanted, and a table is taken along as CSV', async () => {
  await using page = await open()
  const lines = Array.from({ length: 40 }, (_, n) => `const line${n} = ${n}`).join('\n')
  await answered(page, `\`\`\`js\n${lines}\n\`\`\`\n\n| Name | *Said* |\n|---|---|\n| Ann | "Yes, no" |`)
  await page.reload()
  const reply = replies(page)
  const code = reply.locator('pre')
  const height = async () => (await code.boundingBox())?.height ?? 0
  await reply.getByRole('button', { name: 'Show all 40 lines' }).waitFor()
  const folded = await height()
  await reply.getByRole('button', { name: 'Show all 40 lines' }).click()
  await soon(height).toBeGreaterThan(folded * 1.5)
  await reply.getByRole('button', { name: 'Wrap long lines' }).click()
  await expect.poll(() => code.getAttribute('data-wraps')).toBe('true')
  const copied = await clipboard(page)
  await reply.getByRole('button', { name: 'Copy as CSV' }).click()
  await expect.poll(() => copied()).toBe('Name,Said\r\nAnn,"""Yes, no"""')
  // Off the button: its tooltip lies outside of every landmark.
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  expect(await axe(page)).toEqual([])
})

test('a session is searched to its beginning, and a message has an address', async () => {
  await using page = await open()
  const { data } = await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions', {
    params: { path: { agent_id: agentId } },
    body: {},
  })
  await app.sql`
    insert into messages (id, session_id, position, role, status, content)
    select gen_random_uuid(), ${data?.id ?? ''}, n, case n % 2 when 0 then 'user' else 'assistant' end, 'complete',
      case n when 4 then 'The needle, first.' when 90 then 'The needle again.' else 'No. ' || n || repeat(E'\\n\\nhay', 5) end
      from generate_series(0, 119) n`
  await page.goto(`/playground/${agentId}/${data?.id}`)
  await conversation(page).getByText('No. 119').waitFor()
  await field(page).press('Control+f')
  const find = page.getByRole('searchbox', { name: 'Find in this session' })
  await find.fill('NEEDLE')
  await page.getByText('1 of 2').waitFor()
  await conversation(page).getByText('The needle, first.').waitFor()
  await expect.poll(() => page.evaluate<number>(`CSS.highlights.get('found').size`)).toBeGreaterThan(0)
  expect(await axe(page)).toEqual([])
  await find.press('Enter')
  await conversation(page).getByText('The needle again.').waitFor()
  await find.press('Escape')
  await find.waitFor({ state: 'detached' })

  const copied = await clipboard(page)
  const message = page.getByRole('article').filter({ hasText: 'The needle again.' })
  await message.hover()
  await message.getByRole('button', { name: 'More' }).click()
  await page.getByRole('button', { name: 'Copy a link to this message' }).click()
  await soon(copied).toMatch(/#[-0-9a-f]{36}$/)
  const address = await copied()
  await page.goto('/agents')
  await page.goto(address)
  await page.locator('[data-linked]').getByText('The needle again.').waitFor()
})

test('on a phone all of it can be used, and nothing makes the page wider', async () => {
  await using page = await open(undefined, { width: 390, height: 844 })
  await answered(
    page,
    `So $a^2$.\n\n| Name | Said |\n|---|---|\n| Ann | Yes |\n\n\`\`\`mermaid\nflowchart LR\n  A[Ask] --> B[${'Answer '.repeat(12)}]\n\`\`\``,
  )
  const reply = replies(page)
  await reply.getByRole('img', { name: 'Diagram' }).waitFor()
  await reply.locator('math').waitFor({ state: 'attached' })
  await reply.getByRole('button', { name: 'Trace' }).click()
  await reply.getByRole('listitem').filter({ hasText: 'attempt 1' }).getByRole('button').click()
  await reply.getByText('HTTP status').waitFor()
  await page.getByRole('button', { name: 'Find in this session' }).click()
  await page.getByRole('searchbox', { name: 'Find in this session' }).waitFor()
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  expect(await axe(page)).toEqual([])
  const overflows = () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  await expect.poll(() => overflows()).toBe(false)
})

test('a session is renamed beside its conversation', async () => {
  await using page = await open()
  await answered(page, 'Fine.')
  const rename = page.getByRole('button', { name: 'Rename this session' })
  await rename.waitFor() // the reply is there before the page has read the session
  await page.getByRole('heading', { level: 1 }).dblclick()
  const title = page.getByRole('textbox', { name: 'Title of this session' })
  const name = unique('The lamp')
  await title.fill(name)
  await title.press('Enter')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByRole('navigation', { name: 'Sessions' }).getByText(name).waitFor()
  await rename.click()
  await title.press('Escape')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  expect(await axe(page)).toEqual([])
})

test('a letter that is longer in lower case is found, and what stands behind it', async () => {
  await using page = await open()
  await answered(page, 'İki İri İnci son')
  await field(page).press('Control+f')
  const find = page.getByRole('searchbox', { name: 'Find in this session' })
  const marked = () => page.evaluate<string>(`[...CSS.highlights.get('found') ?? []].map(String).join()`)
  for (const [typed, found] of [
    ['SON', 'son'],
    ['inci', 'İnci'],
    ['İri', 'İri'],
  ] as const) {
    await find.fill(typed)
    await page.getByText('1 of 1').waitFor()
    await soon(marked).toBe(found)
  }
})

test('a reply of nothing but marks is shown as it was written, and the page stands', async () => {
  await using page = await open()
  for (const text of ['>'.repeat(5_000), `${'x'.repeat(50_000)}@`]) {
    await answered(page, text)
    await replies(page).last().getByText(text.slice(0, 200)).waitFor()
  }
  await page.reload()
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
})

test('a formula cannot ask for more room than its words', async () => {
  await using page = await open()
  await answered(page, '$$\\rule{1000000em}{1000000em}$$\n\nBelow $x$')
  await soon(() => replies(page).locator('math').count()).toBe(2)
  await expect.poll(() => replies(page).evaluate((reply) => reply.getBoundingClientRect().height)).toBeLessThan(2_000)
})
