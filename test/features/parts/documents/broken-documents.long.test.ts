/** Contract section 32: documents that are broken, or made to do harm. */
import { afterAll, expect } from 'vitest'
import { convertDocument } from '../../../../src/features/parts/documents/convert.ts'
import { openScene } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { formOf, sendForm } from '../../files/files-scene.ts'
import { bodyOf, EXCEL, excel, paragraph, typesOf, WORD, word, wordEntries, xml, zipOf } from './made-documents.ts'

const scene = await openScene()
afterAll(scene.close)

const MIB = 2 ** 20
const whole = word(paragraph('words'))
const container = (name: string) =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1000), Buffer.from(name, 'utf16le')])
const doctype = (declared: string, used: string) =>
  zipOf(wordEntries(bodyOf(paragraph(used)).replace('?>', `?><!DOCTYPE d [${declared}]>`)))
const flipped = (bytes: Buffer, place: number) =>
  Buffer.from(bytes.map((byte, at) => (at === place ? byte ^ 0xff : byte)))
const lol = Array.from({ length: 9 }, (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join('')
const rowsOf = (rows: string) => excel([{ name: 'a', rows }])

const broken = 'is a broken document'
const documents: readonly [string, Buffer, string | 'other'][] = [
  ['cut in the middle', whole.subarray(0, whole.length / 2), broken],
  ['cut by a byte', whole.subarray(0, -1), broken],
  ['a byte changed in what is packed', flipped(whole, whole.indexOf('word/document.xml') + 30), broken],
  ['XML that is not closed', zipOf(wordEntries(bodyOf(paragraph('a')).slice(0, -15))), broken],
  ['XML that is not UTF-8', zipOf(wordEntries(Buffer.from('<w:document>\xff</w:document>', 'latin1'))), broken],
  ['no main part', zipOf(wordEntries('').slice(0, 1)), broken],
  ['a main part that is empty', zipOf(wordEntries('')), broken],
  ['a part that is there twice', zipOf([...wordEntries(bodyOf('')), ...wordEntries(bodyOf('')).slice(1)]), broken],
  ['nested 100,000 deep', word('<w:p>'.repeat(100_000)), broken],
  ['entities that unfold to gigabytes', doctype(`<!ENTITY a0 "lol">${lol}`, '&a9;'), broken],
  ['an external entity', doctype('<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;'), broken],
  ['a cell beyond all columns', rowsOf('<row><c r="ZZZ1"><v>1</v></c></row>'), broken],
  ['more than it says that it unpacks to', word(paragraph('x'.repeat(MIB)), { saidSize: 100 }), broken],
  ['210 MiB of blanks in 200 KB', word(' '.repeat(210 * MIB)), 'unpacks to more than 200 MiB'],
  ['encrypted as a container', container('EncryptedPackage'), 'is encrypted'],
  ['encrypted as an archive', word(paragraph('a'), { flags: 1 }), 'is encrypted'],
  ['an old .doc', container('WordDocument'), 'other'],
  ['with macros', zipOf(wordEntries(bodyOf(''), 'application/vnd.ms-word.document.macroEnabled.main+xml')), 'other'],
  ['another archive', zipOf([['a.txt', 'a']]), 'other'],
  [
    'a presentation',
    zipOf([['[Content_Types].xml', typesOf('/ppt/presentation.xml', 'application/vnd.ms-powerpoint')]]),
    'other',
  ],
  ['no archive', Buffer.from('PDF'), 'other'],
]

for (const [name, bytes, expected] of documents) {
  verifies('contract-32.broken-documents', name, async () => {
    const before = process.memoryUsage.rss()
    const converted = await convertDocument({ size: bytes.length, chunks: [bytes] })
    expect(converted).toEqual(expected === 'other' ? 'other' : { fault: expected })
    expect(process.memoryUsage.rss() - before).toBeLessThan(16 * MIB)
  })
}

verifies(
  'contract-32.broken-documents',
  'none of them is taken as a file, and the error says which fault it has',
  async () => {
    const count = () => scene.app.sql<{ n: number }[]>`select count(*)::int as n from part_contents`
    const before = await count()
    const answers = []
    for (const [name, bytes] of documents) {
      const { status, json } = await sendForm(scene, `${scene.agent}/deploy/files`, formOf(bytes, {}, 'a.docx'))
      answers.push([name, status, json.error?.param, json.error?.message])
    }
    const wordsOf = (expected: string) =>
      expected === 'other' ? expect.stringMatching(/^file: must be PNG, /) : `file: ${expected}`
    const wanted = documents.filter(([name]) => name !== 'no archive')
    expect(answers.filter(([name]) => name !== 'no archive')).toEqual(
      wanted.map(([name, , expected]) => [name, 400, 'file', wordsOf(expected)]),
    )
    expect(answers.at(-1)).toEqual(['no archive', 200, undefined, undefined]) // as text
    const [first] = before
    expect(await count()).toEqual([{ n: (first?.n ?? 0) + 1 }])
  },
)

verifies('contract-32.broken-documents', 'too large, or more than its time or memory', async () => {
  const limits = { ms: 200_000, heapMegabytes: 128, bytes: whole.length }
  const read = (more: object, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array> = [whole]) =>
    convertDocument({ size: whole.length, chunks }, { ...limits, ...more })
  expect(await read({ bytes: whole.length - 1 })).toEqual({ fault: 'is too large a document' })
  const strings = Array.from({ length: 8000 }, (_, n) => `<t>${n}${'x'.repeat(8000)}</t>`)
  const many = excel([{ name: 'a', rows: '' }], { strings })
  const small = { ...limits, bytes: MIB, heapMegabytes: 24 }
  const memory = 'takes more than 256 MiB of memory to be read'
  expect(await convertDocument({ size: many.length, chunks: [many] }, small)).toEqual({ fault: memory })
  const endless = async function* () {
    yield whole.subarray(0, 10)
    await new Promise<never>(() => {})
  }
  expect(await read({ ms: 1 }, endless())).toEqual({ fault: 'takes more than 20 s to be read' })
})

verifies(
  'contract-32.broken-documents',
  'what is harmless is read: macros and links beside the text are not looked at',
  async () => {
    const beside: [string, string][] = [
      ['word/vbaProject.bin', 'macro'],
      [
        'word/_rels/document.xml.rels',
        xml('<Relationships><Relationship TargetMode="External" Target="http://x"/></Relationships>'),
      ],
      ['../../etc/passwd', 'x'],
    ]
    const bytes = zipOf([...wordEntries(bodyOf(paragraph('words'))), ...beside.slice(0, 2)])
    expect(await convertDocument({ size: bytes.length, chunks: [bytes] })).toEqual({
      mediaType: WORD,
      text: Buffer.from('words\n'),
    })
    const climbing = zipOf([...wordEntries(bodyOf(paragraph('words'))), ...beside])
    expect(await convertDocument({ size: climbing.length, chunks: [climbing] })).toEqual({ fault: broken })
    const gaps = rowsOf('<row><c r="XFD1"><v>1</v></c></row>'.repeat(20_000))
    const long = await convertDocument({ size: gaps.length, chunks: [gaps] })
    expect(long).toMatchObject({ mediaType: EXCEL })
  },
)
