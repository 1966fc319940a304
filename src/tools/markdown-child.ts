/**
 * HTML to Markdown, the main content of a page: a program of its own, run by html-to-markdown.ts once for each page.
 * Takes from standard input a MarkdownJob as a line of JSON, then the page's bytes; writes Markdown to standard output,
 * within the job's limit; ends with 1 when it cannot.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { cutToBytes, decodeHtml } from './page-text.ts'

export interface MarkdownJob {
  /** Of the page; links are resolved against it. */
  url: string
  /** As the answer's header names it; empty where it does not. */
  charset: string
  /** Of the Markdown, as UTF-8. What is longer is cut, and ends with `note`; so does what is `cut` already. */
  maxBytes: number
  note: string
  cut: boolean
  /** The program gives up by itself then, should nobody be left to end it. */
  timeoutMs: number
}

/** Beyond, a page is given as its bare text: 5,000 nested elements keep Readability busy for six minutes. */
const MAX_DEPTH = 300
/** Likewise: 900,000 nested ones keep the parser busy for five. 5 MiB of paragraphs with links have 260,000. */
const MAX_TAGS = 400_000

type Page = ReturnType<typeof parseHTML>['document']

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })

function markdownOf(html: string, url: string): string {
  if (hasMoreTagsThan(html, MAX_TAGS)) return plainText(html)
  const page = parsePage(html)
  const title = page.querySelector('title')?.textContent?.replace(/\s+/g, ' ').trim() ?? ''
  if (isDeeperThan(page, MAX_DEPTH)) return titled(title, plainText(html))
  for (const node of page.querySelectorAll('script, style, noscript, template, iframe, object, svg')) node.remove()
  resolveLinks(page, url)
  const whole = page.body.innerHTML // Readability takes the page apart
  const article = new Readability(page).parse()
  const content = article?.content && article.textContent?.trim() ? article.content : whole
  return titled(article?.title || title, turndown.turndown(content))
}

const titled = (title: string, text: string) => (title === '' ? text : `# ${title}\n\n${text}`)

function hasMoreTagsThan(html: string, max: number): boolean {
  let found = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) if (++found > max) return true
  return false
}

/** The parser takes tags as they come; Readability wants html, head and body in their places. */
function parsePage(html: string): Page {
  const { document } = parseHTML(html)
  if (document.documentElement?.localName === 'html' && document.querySelector('html > body')) return document
  const [title] = /<title[^>]*>[^<]*<\/title>/i.exec(html) ?? ['']
  const body = html.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)\b[^>]*>|<title[^>]*>[^<]*<\/title>/gi, '')
  return parseHTML(`<!doctype html><html><head>${title}</head><body>${body}</body></html>`).document
}

/** Walks without recursion: the stack is what such pages aim at. */
function isDeeperThan(page: Page, max: number): boolean {
  const root = page.documentElement
  let depth = 0
  for (let node = root.firstElementChild; node; ) {
    let next = node.firstElementChild
    if (next && ++depth > max) return true
    for (let at = node; !next && at !== root; depth--) {
      next = at.nextElementSibling
      if (next) break
      at = at.parentElement ?? root
    }
    node = next
  }
  return false
}

function resolveLinks(page: Page, url: string): void {
  const base = URL.parse(page.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url
  for (const name of ['href', 'src']) {
    for (const node of page.querySelectorAll(`[${name}]`)) {
      const resolved = URL.parse(node.getAttribute(name) ?? '', base)
      // A model has no use for a picture's bytes, nor for a script behind a link.
      if (resolved && /^(https?|mailto):$/.test(resolved.protocol)) node.setAttribute(name, resolved.href)
      else node.removeAttribute(name)
    }
  }
}

/** What is between the tags. Goes through the text once, whatever is left open in it. */
function plainText(html: string): string {
  const lower = html.toLowerCase()
  const pieces: string[] = []
  let at = 0
  for (let open = html.indexOf('<'); open !== -1; open = html.indexOf('<', at)) {
    pieces.push(html.slice(at, open))
    const [, end = '>'] = hidden.find(([begin]) => lower.startsWith(begin, open)) ?? []
    const close = lower.indexOf(end, open + 1)
    if (close === -1) return tidy(pieces)
    at = close + end.length
  }
  return tidy([...pieces, html.slice(at)])
}

/** What no reader sees, and where it ends. */
const hidden = [
  ['<script', '</script>'],
  ['<style', '</style>'],
  ['<!--', '-->'],
] as const

const tidy = (pieces: string[]) => {
  const lines = pieces.join(' ').split('\n')
  return lines
    .map((line) => line.trim().replace(/[ \t]+/g, ' '))
    .filter((line) => line !== '')
    .join('\n')
}

const input = readFileSync(0)
const lineEnd = input.indexOf(10)
const job: MarkdownJob = JSON.parse(input.toString('utf8', 0, lineEnd))
const convert = runInThisContext('(run) => { globalThis.convert = run }')
convert(() => {
  const markdown = markdownOf(decodeHtml(input.subarray(lineEnd + 1), job.charset), job.url)
  writeFileSync(1, cutToBytes(markdown, job.maxBytes, job.note, job.cut))
})
// The engine's own watchdog: it ends loops and regular expressions that a timer would wait for.
runInThisContext('convert()', { timeout: job.timeoutMs })
