/** Word and Excel documents for tests, as archives that are written by hand. */
import { crc32, deflateRawSync } from 'node:zlib'

export const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
export const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

export interface ZipOptions {
  /** General purpose bits: 1 says that the entry is encrypted. */
  flags?: number
  /** What the archive says that the parts unpack to. */
  saidSize?: number
}

/** Returns an archive of these entries; a name may be there twice. */
export function zipOf(
  entries: readonly (readonly [string, string | Uint8Array])[],
  { flags = 0, saidSize }: ZipOptions = {},
): Buffer {
  const [locals, heads]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, content] of entries) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(saidSize ?? bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    heads.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), common, rest, Buffer.from(name))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(heads)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end])
}

export const xml = (text: string) => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`

export const typesOf = (part: string, type: string) =>
  xml(
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`,
  )

export const bodyOf = (body: string) =>
  xml(
    `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  )

type Entry = readonly [string, string | Uint8Array]

/** The entries of a Word document with this main part. */
export const wordEntries = (document: string | Uint8Array, type = `${WORD}.main+xml`): Entry[] => [
  ['[Content_Types].xml', typesOf('/word/document.xml', type)],
  ['word/document.xml', document],
]

export const word = (body: string, options?: ZipOptions): Buffer => zipOf(wordEntries(bodyOf(body)), options)

export const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

export interface SheetToMake {
  name: string
  rows: string
  state?: string
}

/** Returns an Excel document of these sheets. `strings` and `formats` are the workbook's. */
export function excel(
  sheets: readonly SheetToMake[],
  { strings = [], formats = [], is1904 = false }: { strings?: string[]; formats?: string[]; is1904?: boolean } = {},
): Buffer {
  const listed = sheets.map(
    ({ name, state }, n) =>
      `<sheet name="${name}" sheetId="${n + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="s${n}"/>`,
  )
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const relations = [
    ...sheets.map((_, n) => `<Relationship Id="s${n}" Type="${type}/worksheet" Target="worksheets/sheet${n}.xml"/>`),
    `<Relationship Id="str" Type="${type}/sharedStrings" Target="/xl/sharedStrings.xml"/>`,
    `<Relationship Id="sty" Type="${type}/styles" Target="styles.xml"/>`,
  ]
  const custom = formats.map((code, n) => `<numFmt numFmtId="${200 + n}" formatCode="${code}"/>`)
  const styles = [0, 14, 22, ...formats.map((_, n) => 200 + n)].map((id) => `<xf numFmtId="${id}"/>`)
  return zipOf([
    ['[Content_Types].xml', typesOf('/xl/workbook.xml', `${EXCEL}.main+xml`)],
    [
      'xl/workbook.xml',
      xml(
        `<workbook xmlns:r="${type}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
      ),
    ],
    ['xl/_rels/workbook.xml.rels', xml(`<Relationships>${relations.join('')}</Relationships>`)],
    ['xl/sharedStrings.xml', xml(`<sst>${strings.map((text) => `<si>${text}</si>`).join('')}</sst>`)],
    [
      'xl/styles.xml',
      xml(
        `<styleSheet><numFmts>${custom.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
      ),
    ],
    ...sheets.map(
      ({ rows }, n): Entry => [
        `xl/worksheets/sheet${n}.xml`,
        xml(`<worksheet><sheetData>${rows}</sheetData></worksheet>`),
      ],
    ),
  ])
}
