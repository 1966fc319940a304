/** The text of an Excel document: each visible sheet as a heading and its rows as CSV. */
import { posix } from 'node:path'
import { type Archive, Unreadable } from './archive.ts'
import { isDateFormat, isoDate } from './cell-values.ts'
import { createText, isEnough, type Text } from './text-writer.ts'

const MOST_COLUMNS = 16_384

interface Sheet {
  name: string
  isVisible: boolean
  relation: string
}

interface Workbook {
  sheets: readonly Sheet[]
  /** Days are counted from 1904, as on old Macs. */
  is1904: boolean
  relations: ReadonlyMap<string, Relation>
}

interface Relation {
  /** The last word of its type, such as `worksheet`. */
  type: string
  part: string
}

interface Values {
  is1904: boolean
  strings: readonly string[]
  /** Whether the style of this number shows dates. */
  areDates: readonly boolean[]
}

/** Writes the text of the document whose workbook is `mainPart`. Throws Unreadable. */
export async function readExcel(archive: Archive, mainPart: string, written: Text): Promise<void> {
  const { sheets, is1904, relations } = await readWorkbook(archive, mainPart)
  const partOf = (type: string) => [...relations.values()].find((one) => one.type === type)?.part
  const [strings, styles] = [partOf('sharedStrings'), partOf('styles')]
  const values: Values = {
    is1904,
    strings: strings === undefined ? [] : await readStrings(archive, strings),
    areDates: styles === undefined ? [] : await readStyles(archive, styles),
  }
  for (const { name, isVisible, relation } of sheets) {
    const found = relations.get(relation)
    if (!isVisible || found?.type !== 'worksheet') continue
    if (isEnough(written)()) return
    written.write(`# ${name.replace(/\p{Cc}/gu, ' ')}\n`)
    await readSheet(archive, found.part, values, written)
  }
}

async function readWorkbook(archive: Archive, mainPart: string): Promise<Workbook> {
  const sheets: Sheet[] = []
  let is1904 = false
  await archive.read(mainPart, {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = ['1', 'true', 'on'].includes(attributes.get('date1904') ?? '')
      if (name !== 'sheet') return
      const isVisible = !['hidden', 'veryHidden'].includes(attributes.get('state') ?? '')
      sheets.push({ name: attributes.get('name') ?? '', isVisible, relation: attributes.get('id') ?? '' })
    },
  })
  const { dir, base } = posix.parse(mainPart)
  const relations = new Map<string, Relation>()
  await archive.read(posix.join(dir, '_rels', `${base}.rels`), {
    open(name, attributes) {
      // Links out of the document are not followed.
      if (name !== 'Relationship' || attributes.get('TargetMode') === 'External') return
      const type = attributes.get('Type') ?? ''
      const part = posix.resolve('/', dir, attributes.get('Target') ?? '')
      relations.set(attributes.get('Id') ?? '', { type: type.slice(type.lastIndexOf('/') + 1), part })
    },
  })
  return { sheets, is1904, relations }
}

async function readStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = []
  let current = ''
  let isText = false
  let phonetic = 0
  await archive.read(part, {
    open(name) {
      isText = name === 't' && phonetic === 0
      if (name === 'rPh') phonetic++
      if (name === 'si') current = ''
    },
    close(name) {
      isText = false
      if (name === 'rPh') phonetic--
      if (name === 'si') strings.push(current)
    },
    text(text) {
      if (isText) current += text
    },
  })
  return strings
}

async function readStyles(archive: Archive, part: string): Promise<boolean[]> {
  const codes = new Map<number, string>()
  const formats: number[] = []
  let isOfCells = false
  await archive.read(part, {
    open(name, attributes) {
      const format = Number(attributes.get('numFmtId') ?? 0)
      if (name === 'numFmt') codes.set(format, attributes.get('formatCode') ?? '')
      if (name === 'cellXfs') isOfCells = true
      if (name === 'xf' && isOfCells) formats.push(format)
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false
    },
  })
  return formats.map((format) => isDateFormat(format, codes.get(format)))
}

/** Writes the rows that have values. The formulas are not looked at: their results are stored beside them. */
async function readSheet(archive: Archive, part: string, values: Values, written: Text): Promise<void> {
  let row = createText()
  let column = 0
  let filled = 0
  let cell: { type: string; style: number; value: string } | null = null
  let isValue = false
  const put = (text: string) => {
    if (text === '') return
    row.write(','.repeat(Math.max(0, column - filled)))
    filled = Math.max(column, filled)
    row.write(/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  }
  await archive.read(
    part,
    {
      open(name, attributes) {
        isValue = cell !== null && (name === 'v' || name === 't')
        if (name === 'row') {
          row = createText()
          column = filled = 0
        }
        if (name !== 'c') return
        column = columnOf(attributes.get('r')) ?? column
        if (column >= MOST_COLUMNS) throw new Unreadable('broken')
        cell = { type: attributes.get('t') ?? 'n', style: Number(attributes.get('s') ?? 0), value: '' }
      },
      close(name) {
        isValue = false
        if (name === 'c' && cell !== null) {
          put(shownValue(cell, values))
          cell = null
          column++
        }
        if (name !== 'row' || row.length() === 0) return
        written.append(row)
        written.write('\n')
      },
      text(text) {
        if (isValue && cell !== null) cell.value += text
      },
    },
    isEnough(written),
  )
}

/** Returns the column of a cell's name such as `AB12`, from 0. Null when it has none. */
function columnOf(name: string | undefined): number | null {
  const [letters] = /^[A-Z]{1,3}/.exec(name ?? '') ?? []
  if (letters === undefined) return null
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function shownValue({ type, style, value }: { type: string; style: number; value: string }, values: Values): string {
  if (type === 's') return values.strings[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type !== 'n' || value.trim() === '') return value
  const number = Number(value)
  if (Number.isNaN(number)) return value
  // 1.1 is stored as 1.1000000000000001.
  return (values.areDates[style] === true ? isoDate(number, values.is1904) : null) ?? String(number)
}
