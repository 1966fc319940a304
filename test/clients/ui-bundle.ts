/** Clients for pages as one script, and a page that has one of them. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { askSetUp } from '../support/database.ts'
import type { TestBrowser, TestPage } from '../ui/browser.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

/** `greenroom.open` for pages; rejects with one line where the clients cannot be installed. */
export async function bundleUiClients(): Promise<string> {
  const trouble = await askSetUp('clients')
  if (trouble !== '') throw new Error(trouble)
  return await bundlePage(here, 'drivers/ui-page.js')
}

/** `entry` below `root` as one script that sets `greenroom`. */
export async function bundlePage(root: string, entry: string): Promise<string> {
  const output = await build({
    root,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false, lib: { entry: `${root}${entry}`, formats: ['iife'], name: 'greenroom' } },
  })
  const [bundle] = Array.isArray(output) ? output : [output]
  const file = bundle && 'output' in bundle ? bundle.output[0] : null
  if (!file) throw new Error('vite built nothing')
  return file.code
}

export const versionOf = async (name: string, root = here): Promise<string> =>
  JSON.parse(await readFile(`${root}node_modules/${name}/package.json`, 'utf8')).version

export interface Shown {
  status: string
  error: { name: string; message: string; code?: string } | null
  messages: { role: string; text: string; tools: [name: string, result: unknown][] }[]
}

export interface UiClient extends AsyncDisposable {
  send(text: string): Promise<void>
  /** As the client offers it to a page's button. */
  stop(): Promise<void>
  /** What a page calls when its connection was lost. */
  comeBack(): Promise<void>
  /** As a browser's reload. */
  reload(): Promise<void>
  shown(): Promise<Shown>
  /** Runs code in the page, where `client` is what ui-page.js opened. */
  evaluate<T>(code: string): Promise<T>
}

export async function openUiClient(
  browser: TestBrowser,
  script: string,
  name: string,
  { origin, base, id }: { origin: string; base: string; id: string },
): Promise<UiClient> {
  const page: TestPage = await browser.page(origin, { allow: /./ }) // what they log is theirs
  const open = async (kept: unknown) => {
    await page.goto('/livez')
    await page.addScriptTag({ content: script })
    await page.evaluate(`greenroom.open(${JSON.stringify(name)}, ${JSON.stringify({ base, id, kept })})`)
  }
  await open(null)
  return {
    send: (text) => page.evaluate(`client.send(${JSON.stringify(text)})`),
    stop: () => page.evaluate('client.stop()'),
    comeBack: () => page.evaluate('client.comeBack()'),
    reload: async () => open(await page.evaluate('client.kept?.()')),
    shown: () => page.evaluate<Shown>('client.shown()'),
    evaluate: <T>(code: string) => page.evaluate<T>(code),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
}
