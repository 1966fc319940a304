/** The playground where the server took a message and its answer was lost: it is stored once, and the page goes on. */
import { afterAll, expect, test } from 'vitest'
import type { TestPage } from '../../browser.ts'
import { conversation, field, say, soon, startPlayground, statuses } from '../playground-scene.ts'

const { app, open, playground, close } = await startPlayground()
afterAll(close)

/** The server takes everything, and none of its answers arrives, until it is `there` again. */
async function loseAnswers(page: TestPage) {
  const line = { isThere: false, taken: 0, asked: 0 }
  await page.route(/\/playground\/chat$|\/livez$/, async (route) => {
    if (line.isThere) return route.continue()
    const isMessage = route.request().method() === 'POST'
    if (isMessage) {
      line.asked++
      const answer = await route.fetch()
      if (answer.ok()) line.taken++
    }
    return route.abort('connectionreset')
  })
  return line
}

const stored = (text: string) =>
  app.sql<{ content: string }[]>`select content from messages where role = 'user' and content = ${text}`

test('a message whose answer was lost is in its new session once, and the notice leaves with the connection', async () => {
  await using page = await open(playground, { allow: /Failed to load resource/ })
  const line = await loseAnswers(page)
  await say(page, 'Sent once')
  await soon(() => line.taken).toBeGreaterThan(0)
  await page.getByText('Greenroom cannot be reached').first().waitFor()
  line.isThere = true
  await soon(() => statuses(page)).toEqual(['Complete'])
  await conversation(page).getByText('Fine.', { exact: true }).waitFor()
  await soon(() => page.getByText('Greenroom cannot be reached').count()).toBe(0)
  await soon(() => field(page).inputValue()).toBe('')
  expect(await stored('Sent once')).toHaveLength(1)
  await soon(() => new URL(page.url()).pathname.split('/').length).toBe(4)
})

test('the next message of a session, too, whose answer was lost more than once', async () => {
  await using page = await open()
  await say(page, 'The first')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const line = await loseAnswers(page)
  await say(page, 'Lost twice')
  await soon(() => line.asked).toBeGreaterThan(1)
  line.isThere = true
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  expect(await stored('Lost twice')).toHaveLength(1)
})
