/** What follows a reply by its stream of events: EventSource of two kinds, and curl. */
import { spawn } from 'node:child_process'
import { createParser } from 'eventsource-parser'
import type { TestBrowser } from '../ui/browser.ts'

export interface Heard {
  id: string
  data: string
}

export interface Listener {
  /** All frames so far. */
  frames(): Promise<readonly Heard[]>
  /** True once it will not ask again by itself. */
  isOver(): Promise<boolean>
  close(): Promise<void>
}

export interface Source {
  name: string
  /** When empty, whichever the machine has. */
  version: string
  /** Comes back by itself when its connection is lost. */
  byItself: boolean
  takesHeaders: boolean
  open(url: string, headers?: Record<string, string>): Promise<Listener>
}

/** Debian's Chromium; the page is one of the server's own. */
export function browserSource(browser: TestBrowser): Source {
  return {
    name: 'EventSource (Chromium)',
    version: '',
    byItself: true,
    takesHeaders: false,
    async open(url) {
      const page = await browser.page(new URL(url).origin, { allow: /EventSource|net::ERR/ })
      await page.goto('/livez')
      await page.evaluate(`
        frames = []
        source = new EventSource(${JSON.stringify(url)})
        source.onmessage = ({ data, lastEventId }) => frames.push({ id: lastEventId, data })
        null`)
      return {
        frames: () => page.evaluate<Heard[]>('frames'),
        isOver: () => page.evaluate<boolean>('source.readyState === EventSource.CLOSED'),
        close: () => page[Symbol.asyncDispose](),
      }
    },
  }
}

/** The command that the README uses. */
export function curlSource(): Source {
  return {
    name: 'curl -N',
    version: '',
    byItself: false,
    takesHeaders: true,
    async open(url, headers = {}) {
      const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
      const child = spawn('curl', ['-sN', url, ...given], { stdio: ['ignore', 'pipe', 'ignore'] })
      const frames: Heard[] = []
      const parser = createParser({ onEvent: ({ id = '', data }) => void frames.push({ id, data }) })
      child.stdout.setEncoding('utf8').on('data', (text: string) => parser.feed(text))
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
      return {
        frames: async () => frames,
        isOver: async () => child.exitCode !== null,
        close: async () => {
          child.kill()
          await ended
        },
      }
    },
  }
}
