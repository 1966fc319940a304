/** The text of a Word document: a paragraph, heading or list item is a line, a row of a table is one of cells. */
import type { Archive } from './archive.ts'
import { createText, isEnough, type Text } from './text-writer.ts'

/** Elements in which nothing is shown: properties, text that was deleted or moved away, and a second form of a drawing. */
const hidden = new Set(['pPr', 'rPr', 'tblPr', 'sectPr', 'del', 'moveFrom', 'Fallback'])

const signs = new Map([
  ['tab', '\t'],
  ['br', '\n'],
  ['cr', '\n'],
  ['noBreakHyphen', '-'],
])

type Open = { kind: 'line' | 'cell'; text: Text } | { kind: 'row'; cells: Text[] }

/** Writes the text of the document's main part. Throws Unreadable. */
export async function readWord(archive: Archive, mainPart: string, written: Text): Promise<void> {
  const opened: Open[] = []
  let hiddenLevels = 0
  let isText = false
  const begin = (name: string) => {
    if (name === 'p') opened.push({ kind: 'line', text: createText() })
    if (name === 'tr') opened.push({ kind: 'row', cells: [] })
    if (name === 'tc') opened.push({ kind: 'cell', text: createText() })
  }
  const end = (name: string) => {
    if (name !== 'p' && name !== 'tr' && name !== 'tc') return
    const done = opened.pop()
    const around = opened.at(-1)
    if (done?.kind === 'cell' && around?.kind === 'row') around.cells.push(done.text)
    if (done?.kind === 'line') put(done.text)
    if (done?.kind === 'row') put(joined(done.cells))
  }
  /** Writes a line into the cell around it, else into the text. */
  const put = (line: Text) => {
    if (line.kept().trim() === '') return
    const cell = opened.findLast(({ kind }) => kind === 'cell')
    if (cell === undefined || cell.kind === 'row') {
      written.append(line)
      written.write('\n')
      return
    }
    const text = line.kept().replace(/[\t\n]+/g, ' ')
    cell.text.write(cell.text.length() === 0 ? text : ` ${text}`)
    cell.text.skip(line.length() - line.kept().length)
  }
  const say = (text: string) => {
    const line = opened.at(-1)
    if (line?.kind === 'line') line.text.write(text)
  }
  await archive.read(
    mainPart,
    {
      open(name) {
        if (hiddenLevels > 0 || hidden.has(name)) hiddenLevels++
        if (hiddenLevels > 0) return
        isText = name === 't'
        begin(name)
        const sign = signs.get(name)
        if (sign !== undefined) say(sign)
      },
      close(name) {
        isText = false
        if (hiddenLevels > 0) hiddenLevels--
        else end(name)
      },
      text: (text) => void (isText && say(text)),
    },
    isEnough(written),
  )
}

function joined(cells: readonly Text[]): Text {
  const row = createText()
  for (const [index, cell] of cells.entries()) {
    if (index > 0) row.write('\t')
    row.append(cell)
  }
  return row
}
