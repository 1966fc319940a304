/** The playground with a provider that the test plays. One for each file. */
import { beforeEach, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream, type UpstreamCall } from '../../support/network/upstream.ts'
import { laidOut, openBrowser, type PageOptions, type TestPage } from '../browser.ts'

export const soon = <T>(read: () => T) => expect.poll(read)

export const field = (page: TestPage) => page.getByRole('textbox', { name: 'Message' })
export const replies = (page: TestPage) => page.getByRole('article', { name: 'Agent' })
export const statuses = (page: TestPage) => page.getByTestId('status').allTextContents()
export const conversation = (page: TestPage) => page.getByRole('log', { name: 'Conversation' })

/** Presses Esc until the reply is stopped. The second press counts only soon after the first, which a busy machine may miss. */
export const stopByEsc = (page: TestPage) =>
  soon(async () => {
    await page.keyboard.press('Escape')
    return await statuses(page)
  }).toEqual(['Stopped'])

export async function say(page: TestPage, text: string): Promise<void> {
  await field(page).fill(text)
  await field(page).press('Enter')
}

/**
 * Resolves to what is read once it is read alike twice: what is scrolled, laid out or measured anew moves on for some
 * frames.
 */
export async function atRest<T>(page: TestPage, read: () => Promise<T>): Promise<T> {
  let last = await read()
  await soon(async () => {
    await laidOut(page)
    const before = JSON.stringify(last)
    last = await read()
    return JSON.stringify(last) === before
  }).toBe(true)
  return last
}

/** Resolves to the session's id once it is in the address. */
export async function sessionOf(page: TestPage): Promise<string> {
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  return new URL(page.url()).pathname.split('/').at(-1) ?? ''
}

/** A small file beside the message. */
export const attach = (page: TestPage, name: string): Promise<void> =>
  page.getByTestId('attach').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })

/** Files are read from now on only once the promise's function is called. */
export async function holdFiles(page: TestPage): Promise<() => Promise<void>> {
  await page.evaluate(`{
    const read = Blob.prototype.arrayBuffer
    const { promise, resolve } = Promise.withResolvers()
    Blob.prototype.arrayBuffer = function () {
      return promise.then(() => read.call(this))
    }
    globalThis.readFiles = () => {
      Blob.prototype.arrayBuffer = read
      resolve()
    }
  }`)
  return () => page.evaluate<void>('readFiles()')
}

/** `playground`: the page of its one agent, named "Agent". Replies are "Fine." unless the test says otherwise. */
export async function startPlayground(settings: Record<string, string> = {}) {
  const up = await startUpstream()
  const app = await startTestApp({ settings })
  const browser = await openBrowser()
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const playground = `/playground/${agentId}`
  beforeEach(() => {
    // Answers that a failed test has left are not given to the next one.
    up.forget()
    up.always((call) => call.text('Fine.').then(() => call.finish()))
  })
  return {
    up,
    app,
    agentId,
    playground,
    async open(path = playground, options: PageOptions = {}): Promise<TestPage> {
      const page = await browser.page(app.url, options)
      await page.goto(path)
      await field(page).waitFor()
      return page
    },
    /** A reply whose pieces the test sends. */
    byHand(): Promise<UpstreamCall> {
      const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
      up.next(resolve)
      return promise
    },
    async close(): Promise<void> {
      await browser.close()
      await app[Symbol.asyncDispose]()
      await up.close()
    },
  }
}
