/** Parts of the pages that are fetched when they are needed: kept trying while the server is away, and fetched ahead. */
import { connectionLost, reachableWithin } from './connection.ts'

const reloadedKey = 'reloaded'
const RELOADED_LATELY_MS = 10_000

/** Returns the target of a click while the router waits for its page. */
let leadsTo: () => string = () => location.href

/** Registers the function that returns the router's next location. */
export function followRouter(pending: () => string | null): void {
  leadsTo = () => pending() ?? location.href
}

/**
 * Calls `load`, which imports one module, until it succeeds. While the server does not answer, the page stays as it is. Browsers
 * keep a failed import for good, so the file is asked for under another address then. An answering server without the part has
 * been replaced by a newer version: the address is loaded anew, once.
 */
export const reliable =
  <Module>(load: () => Promise<Module>) =>
  async (): Promise<Module> => {
    let next = load
    for (let tries = 1; ; tries++) {
      try {
        return await next()
      } catch (error) {
        const file = fileOf(error)
        const isThere = await answers()
        if (isThere && (file === null || next !== load)) return await loadAnew(error)
        if (!isThere) {
          connectionLost()
          await reachableWithin(null)
          await loadStylesAgain()
        }
        if (file !== null) next = () => import(/* @vite-ignore */ `${file}?again=${tries}`)
      }
    }
  }

/** Returns the address of the module that could not be imported. Null where the error does not tell it. */
const fileOf = (error: unknown): string | null => /https?:\S+?\.js/.exec(String(error))?.[0] ?? null

/** Resolves in the next turn of the browser. */
export const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/**
 * Returns a page whose parts are evaluated one after the other, with turns of the browser between them: all at once
 * they are one long task. The page itself imports them too.
 */
export const inPieces =
  <Part>(parts: readonly (() => Promise<unknown>)[], page: () => Promise<Part>) =>
  async (): Promise<Part> => {
    for (const part of parts) {
      await turn()
      await part()
    }
    return await page()
  }

const answers = (): Promise<boolean> =>
  fetch('/livez', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Fetches stylesheets again. One that could not be fetched stays in the document as a link without a sheet, and
 * importing its part again does not request it again. Resolves when each has been fetched or has failed once more.
 */
async function loadStylesAgain(): Promise<void> {
  const failed = Array.from(document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')).filter(
    ({ sheet }) => sheet === null,
  )
  const fetched = failed.map((link) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const again = link.cloneNode()
    again.addEventListener('load', resolve)
    again.addEventListener('error', resolve)
    link.replaceWith(again)
    return promise
  })
  await Promise.all(fetched)
}

async function loadAnew(error: unknown): Promise<never> {
  if (Date.now() - Number(sessionStorage.getItem(reloadedKey)) < RELOADED_LATELY_MS) throw error
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.assign(leadsTo())
  return await new Promise<never>(() => {})
}

/** Of a pause that a part's evaluation may fill: more than there is between two frames while something moves. */
const RESTS_MS = 30

/** Fetches parts one after the other while the page rests, so that a click needs no server. Failures do not matter. */
export function fetchAhead(parts: readonly (() => Promise<unknown>)[], afterMs: number): void {
  const left = [...parts]
  const next = (pause?: IdleDeadline) => {
    const isResting = pause === undefined || pause.timeRemaining() >= RESTS_MS
    if (!isResting) rest()
    else void left.shift()?.().then(rest, rest)
  }
  const rest = () => ('requestIdleCallback' in globalThis ? requestIdleCallback(next) : setTimeout(next, 200))
  setTimeout(rest, afterMs)
}
