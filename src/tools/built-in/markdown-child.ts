/**
 * Converts the main content of an HTML page to Markdown: a separate program that html-to-markdown.ts runs for each page.
 * Reads a MarkdownJob as one line of JSON from standard input, then the page's bytes. Writes Markdown to standard
 * output, within the job's limit. Exits with 1 when it cannot.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { decodeHtml } from './html-encoding.ts'
import { cutToBytes } from './page-text.ts'

export interface MarkdownJob {
  /** URL of the page; links are resolved against it. */
  url: string
  /** The content type of the response; empty when it has none. */
  charset: string
  /** Limit of the Markdown, as UTF-8. Longer text is cut and ends with `note`, as does a page that is already `cut`. */
  maxBytes: number
  note: string
  cut: boolean
  /** The time after which the program exits by itself, in case its parent has gone. */
  timeoutMs: number
}

/**
 * The greatest depth of a page. A deeper one is reduced to plain text: 5,000 nested elements keep Readability busy for
 * six minutes.
 */
const MAX_DEPTH = 300
/**
 * The most tags of a page. 900,000 nested tags keep the parser busy for five minutes. 5 MiB of paragraphs with links
 * have 260,000.
 */
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
  const whole = page.body.innerHTML // Readability modifies the page
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

/** Parses a page. The parser accepts tags in any order; Readability needs html, head and body in their places. */
function parsePage(html: string): Page {
  const { document } = parseHTML(html)
  if (document.documentElement?.localName === 'html' && document.querySelector('html > body')) return document
  const [title] = /<title[^>]*>[^<]*<\/title>/i.exec(html) ?? ['']
  const body = html.replace(/<!doctype[^>]*>|<\/?(?:html|head|body)\b[^>]*>|<title[^>]*>[^<]*<\/title>/gi, '')
  return parseHTML(`<!doctype html><html><head>${title}</head><body>${body}</body></html>`).document
}

/** Returns whether a page is deeper than `max`. Uses no recursion: hostile pages aim to overflow the stack. */
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
      // A model has no use for an image's bytes, nor for a script in a link.
      if (resolved && /^(https?|mailto):$/.test(resolved.protocol)) node.setAttribute(name, resolved.href)
      else node.removeAttribute(name)
    }
  }
}

/** Returns the text between the tags. Takes one pass, even where tags are left open. */
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

/** Tags of invisible content, and their ends. */
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
  const markdown = markdownOf(decodeHtml(input.subarray(lineEnd + 1), job.charset, job.cut), job.url)
  writeFileSync(1, cutToBytes(markdown, job.maxBytes, job.note, job.cut))
})
// V8's own watchdog: it interrupts loops and regular expressions, which no timer can.
runInThisContext('convert()', { timeout: job.timeoutMs })
