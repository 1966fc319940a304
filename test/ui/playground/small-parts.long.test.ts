/** Small parts of the conversation: the caret, the line below a reply, hints, and a session's row in the list. */
import { afterAll, expect, test } from 'vitest'
import { sidewaysScroll } from '../browser.ts'
import { field, replies, say, soon, startPlayground, statuses } from './playground-scene.ts'

const { agentId, app, up, open, byHand, playground, close } = await startPlayground()
afterAll(close)

test('a caret stands where the words end while they come, and is still where movement is not wanted', async () => {
  await using page = await open()
  const call = byHand()
  await say(page, 'Write')
  const { text, finish } = await call
  await text('The first paragraph.\n\nThe second one grows')
  const grows = replies(page).getByText('The second one grows')
  await grows.waitFor()
  /** What the browser draws behind the paragraph: its width, and the name of its movement. */
  const caret = (words: string) =>
    replies(page)
      .getByText(words)
      .evaluate((of): [string, string] => {
        const { content, width, animationName } = of.ownerDocument.defaultView.getComputedStyle(of, '::after')
        return content === 'none' ? ['', 'none'] : [width, animationName]
      })
  await soon(() => caret('The second one grows')).toEqual([expect.stringMatching(/[1-9]/), 'none'])
  await expect.poll(() => caret('The first paragraph.')).toEqual(['', 'none'])
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await soon(async () => (await caret('The second one grows'))[1]).toContain('caret')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await expect.poll(() => caret('The second one grows')).toEqual(['', 'none'])
})

test('what can be done with the newest reply is in sight, and so are the arrows of its branches', async () => {
  await using page = await open()
  up.next((call) => call.text('One.').then(() => call.finish()))
  await say(page, 'First')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await replies(page).getByRole('button', { name: 'Regenerate' }).click()
  await page.getByTestId('branch').filter({ hasText: '2 / 2' }).waitFor()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await say(page, 'Second')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  await page.mouse.move(0, 0)
  const opacity = (reply: number, name: string) =>
    replies(page)
      .nth(reply)
      .getByRole('button', { name })
      .evaluate((of): string => of.ownerDocument.defaultView.getComputedStyle(of).opacity)
  await expect.poll(() => opacity(1, 'Copy reply')).toBe('1')
  await expect.poll(() => opacity(0, 'Copy reply')).toBe('0')
  await expect.poll(() => opacity(0, 'Previous branch')).toBe('1')
})

test('the hints below the field can be read, and a session’s title ends before the button beside it', async () => {
  await using page = await open()
  const keys = page.getByRole('region', { name: 'Chat' }).locator('kbd')
  await keys.first().waitFor()
  const smallest = await keys.evaluateAll((all): number =>
    Math.min(...all.map((one) => parseFloat(one.ownerDocument.defaultView.getComputedStyle(one).fontSize))),
  )
  expect(smallest).toBeGreaterThanOrEqual(12)
  await say(page, '**A title** that is so long that it reaches the very end of its row')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem').first()
  const title = row.getByText('A title that is so long')
  const beyond = async () => {
    await row.hover() // again: the list may have been read anew below the pointer
    const ends = await title.boundingBox()
    const begins = await row.getByRole('button').first().boundingBox()
    return (ends?.x ?? 0) + (ends?.width ?? 0) - (begins?.x ?? 0)
  }
  await soon(beyond).toBeLessThanOrEqual(0)
})

test('a running reply is copied as far as it has come by then', async () => {
  await using page = await open()
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
  const call = byHand()
  await say(page, 'Write')
  const { text, finish } = await call
  const copied = async (words: string) => {
    await replies(page).getByText(words).waitFor()
    await replies(page).getByRole('button', { name: 'Copy reply' }).click()
    await soon(() => page.evaluate<string>('window.copied')).toBe(words)
  }
  await text('One lamp')
  await copied('One lamp')
  await text(' and another')
  await copied('One lamp and another')
  await finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
})

test('on a phone the sessions are in a drawer, which gives the focus back to its button', async () => {
  await using page = await open(undefined, { width: 390, height: 844 })
  await expect.poll(() => page.getByRole('navigation', { name: 'Sessions' }).count()).toBe(0)
  const button = page.getByRole('button', { name: 'Sessions', exact: true })
  for (let time = 0; time < 2; time += 1) {
    await button.click()
    const drawer = page.getByRole('dialog', { name: 'Sessions' })
    await drawer.getByRole('link', { name: 'New session' }).waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await soon(() => button.evaluate((of) => of === of.ownerDocument.activeElement)).toBe(true)
  }
})

test('an agent’s name that no line has room for moves nothing out of sight', async () => {
  const { data } = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  const body = { name: 'W'.repeat(200), providerId: data?.providerId ?? '', model: 'm' }
  const { data: long } = await app.client.POST('/api/v1/agents', { body })
  await using page = await open(`/playground/${long?.id}`)
  const send = page.getByRole('button', { name: 'Send', exact: true })
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 })
    await soon(async () => {
      const box = await send.boundingBox()
      return box === null ? Number.NaN : box.x + box.width
    }).toBeLessThan(width)
  }
  expect(await sidewaysScroll(page)).toEqual([])
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.goto('/')
  await page.getByRole('region', { name: 'Recent sessions' }).getByText('WWW').first().waitFor()
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a new session gets its id without taking the keyboard from where somebody types by then', async () => {
  await using page = await open()
  const { promise: mayArrive, resolve: arrive } = Promise.withResolvers<void>()
  await page.route('**/playground/chat', (route) => mayArrive.then(() => route.continue()))
  await say(page, 'Hello')
  const search = page.getByRole('searchbox', { name: 'Search sessions' })
  await search.pressSequentially('zeb')
  arrive()
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.keyboard.type('ra')
  await soon(async () => [await search.inputValue(), await field(page).inputValue()]).toEqual(['zebra', ''])
})

test('a new session that is asked for just as the last one gets its address begins one', async () => {
  await using page = await open()
  await page.evaluate(`{
    const replace = history.replaceState.bind(history)
    history.replaceState = (...all) => {
      replace(...all)
      if (location.pathname.split('/').length < 4) return
      history.replaceState = replace
      queueMicrotask(() => {
        document.querySelector('a[href="${playground}"]').click()
        globalThis.hasAsked = true
      })
    }
  }`)
  await say(page, 'Hello')
  await expect.poll(() => page.evaluate('globalThis.hasAsked')).toBe(true)
  await page.getByText('Talk to Agent').waitFor()
  await soon(() => statuses(page)).toEqual([])
})

test('an opening that is clicked twice is sent once, and leaves the keyboard in the field', async () => {
  await using page = await open()
  const before = up.calls.length
  await page.getByRole('button', { name: 'Write a haiku about waiting.', exact: true }).dblclick()
  await soon(() => statuses(page)).toEqual(['Complete'])
  expect(up.calls.length - before).toBe(1)
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  await page.keyboard.type('And on')
  await expect.poll(() => field(page).inputValue()).toBe('And on')
})

test('a second press that falls on the conversation instead of the opening leaves the keyboard in the field', async () => {
  await using page = await open()
  const call = byHand()
  const opening = page.getByRole('button', { name: 'Write a haiku about waiting.', exact: true })
  await opening.hover({ position: { x: 10, y: 10 } })
  await page.mouse.down()
  await page.mouse.up()
  const { text, finish } = await call
  await page.locator('[role=log][tabindex="0"]').waitFor()
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await page.keyboard.type('And on')
  await expect.poll(() => field(page).inputValue()).toBe('And on')
  // A press that begins anew is one like any other.
  await page.mouse.down()
  await page.mouse.up()
  await soon(() => page.locator('[role=log]').evaluate((of) => of === of.ownerDocument.activeElement)).toBe(true)
  await text('Wait.')
  await finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
})

test('who cannot see the page hears that a reply is complete, stopped or failed, with its text', async () => {
  await using page = await open()
  const hears = (role: 'status' | 'alert', words: RegExp) =>
    page.getByRole(role).filter({ hasText: words }).waitFor({ state: 'attached' })
  const call = byHand()
  await say(page, 'Three words')
  const { text, finish } = await call
  await text('three short words')
  await finish()
  await hears('status', /^Reply complete, 3 words\. three short words$/)

  const second = byHand()
  await say(page, 'Two words')
  await (await second).text('two words')
  await replies(page).getByText('two words').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await hears('status', /^Reply stopped, 2 words\. two words$/)

  up.next((refusing) => refusing.error(400, { error: { message: 'No such lamp.' } }))
  await say(page, 'None')
  await hears('status', /^Reply failed\.$/)
  await hears('alert', /No such lamp\./)
})

test('a call is shown by its tool’s own name, and the name that models see is its tooltip', async () => {
  const tool = { name: 'find order', description: 'Finds.', method: 'GET', url: 'http://127.0.0.1:9/' } as const
  const { data } = await app.client.POST('/api/v1/http-tools', { body: tool })
  const params = { path: { agent_id: agentId } }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: { httpToolIds: [data?.id ?? ''] } })
  let seen = ''
  up.next(async (call) => {
    seen = call.body.tools[0].function.name
    await call.toolCall({ index: 0, id: 'c1', name: seen, arguments: '{}' })
    await call.finish('tool_calls')
  })
  up.next((call) => call.text('Done.').then(() => call.finish()))
  await using page = await open()
  await say(page, 'Where is it?')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const name = replies(page).getByText('find order', { exact: true })
  await name.waitFor()
  expect(seen).toMatch(/^find_order_[0-9a-f]{6}$/)
  await expect.poll(() => name.getAttribute('title')).toBe(`Models see ${seen}`)
})
