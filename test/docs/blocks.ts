/** The code blocks of a page, as a reader would copy them. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

export const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** The guides, without the pages of the design, by name: what a reader does on one page may be needed by a later one. */
export const guides: readonly string[] = readdirSync(`${checkout}/docs`, { encoding: 'utf8', recursive: true })
  .filter((path) => path.endsWith('.md') && !path.startsWith('design'))
  .toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
  .map((path) => `docs/${path}`)

export interface Block {
  /** Language of the fence. */
  language: string
  code: string
  /** `README.md:21`. */
  where: string
}

/** Returns the output that a page shows below a block; null where it shows none. `…` in it stands for anything. */
export const outputBelow = (blocks: readonly Block[], block: Block): Block | null => {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.language === 'text' ? next : null
}

/** Returns the pattern of an output that a page shows. */
export const patternOf = (output: string): RegExp => {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s*')
  return new RegExp(`^\\s*${output.trim().split('…').map(literal).join('[^]*?')}\\s*$`)
}

/** In page order. `page` is a path within the checkout. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  const lines = readFileSync(`${checkout}/${page}`, 'utf8').split('\n')
  for (const [index, line] of lines.entries()) {
    const fence = /^\s*```(\w*)/.exec(line)
    if (fence && open) {
      blocks.push(open)
      open = null
    } else if (fence) open = { language: fence[1] ?? '', code: '', where: `${page}:${index + 1}` }
    else if (open) open.code += `${line}\n`
  }
  return blocks
}
