/** Contract section 13: the `data:` URLs of a body are taken out of it while it arrives. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { cleanName } from '../../../../src/features/parts/routes/clean-name.ts'
import { createDataUrlFilter, type DataUrl } from '../../../../src/features/parts/routes/data-urls.ts'
import { leastOfSeveral, longestTurn } from '../../../support/measures/longest-turn.ts'
import { samples } from '../../../support/samples.ts'
import { verifies } from '../../../verifies.ts'
import { sha256 } from './parts-scene.ts'

/** What is left of the text, and what was found in it. The chunks end at these places. */
function filtered(body: string, cuts: readonly number[] = [], maxBytes = 1e6) {
  const found: DataUrl[] = []
  const kept: Buffer[] = []
  let held = 0
  const pass = createDataUrlFilter({
    maxBytes,
    hold: (bytes) => {
      held += bytes
    },
    keep: (bytes) => kept.push(Buffer.from(bytes)),
    found: (url) => `<${found.push(url) - 1}>`,
  })
  const bytes = Buffer.from(body)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (const [index, place] of places.entries()) pass(bytes.subarray(place, places[index + 1]))
  return { left: Buffer.concat(kept).toString(), found, held }
}

/** In which quadratic expressions and a buffer for each URL do not come to an end; what is measured takes a fiftieth. */
const SOON_MS = 2000

verifies('contract-26.cost-of-bytes', 'many URLs, and such as are escaped throughout', async () => {
  const many = `[${Array(20_000).fill('{"url":"data:;base64,AA=="}').join()}]`
  const escaped = `{"url":"data:;base64,${'\\u0041'.repeat(500_000)}"}`
  const cuts = Array.from({ length: 64 }, (_, index) => index * 65_536)
  for (const [body, count] of [
    [many, 20_000],
    [escaped, 1],
  ] as const) {
    const spent = await leastOfSeveral(SOON_MS, () => {
      return longestTurn(async () => expect(filtered(body, cuts).found.length).toBe(count))
    })
    expect(spent).toBeLessThan(SOON_MS)
  }
})

verifies('contract-26.cost-of-bytes', 'a name of dots', async () => {
  const name = `a${'.'.repeat(1_000_000)}b`
  const spent = await leastOfSeveral(SOON_MS, () => longestTurn(async () => expect(cleanName(name)).toHaveLength(200)))
  expect(spent).toBeLessThan(SOON_MS)
})

const bytesOf = ({ data }: DataUrl) => (typeof data === 'object' ? Buffer.concat(data.pieces) : data)

verifies('contract-13.parts', 'wherever the body is cut, and however it is escaped', () => {
  const escapes = [
    (text: string) => text,
    (text: string) => text.replaceAll('/', '\\/'),
    (text: string) => text.replaceAll('+', '\\u002B').replaceAll('/', '\\u002f'),
  ]
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          bytes: fc.uint8Array({ maxLength: 200 }),
          form: fc.nat(2),
          key: fc.constantFrom('url', 'file_data'),
          spaced: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
      fc.jsonValue(),
      fc.array(fc.nat(), { maxLength: 8 }),
      (urls, other, cuts) => {
        const inner = JSON.stringify(other).replaceAll('data:', 'date:')
        const fields = urls.map(({ bytes, form, key, spaced }) => {
          const url = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
          return `{"${key}"${spaced ? ' : ' : ':'}"${escapes[form]?.(url)}"}`
        })
        const { left, found } = filtered(`[${[inner, ...fields].join(',')}]`, cuts)
        expect(found.map(bytesOf)).toEqual(urls.map(({ bytes }) => Buffer.from(bytes)))
        expect(found.every(({ head, data }) => head === 'image/png;base64' && typeof data === 'object')).toBe(true)
        expect(JSON.parse(left)).toEqual([
          JSON.parse(inner),
          ...urls.map(({ key }, index) => ({ [key]: `<${index}>` })),
        ])
      },
    ),
    { numRuns: samples(100, 300) },
  )
})

verifies('contract-13.parts', 'all else stays as it came', () => {
  const others = [
    '{"text":"data:image/png;base64,AAAA","urls":"data:image/png;base64,AAAA","url ":"data:a;base64,AAAA"}',
    '{"url":"https://example.com/data:image/png;base64,AAAA"}',
    '{"url":"data:image/png,AAAA"}',
    '{"url":"data:\\"","a":"\\\\","url":"\\u0064ata"}',
    '{"url":["data:image/png;base64,AAAA"]}',
    '{"url":"","x":["url","data:image/png;base64,AAAA"]}',
    '{"url":"\\"data:image/png;base64,AAAA"}',
    `{"url":"data:${'x'.repeat(300)};base64,AAAA"}`,
  ]
  for (const body of others) {
    for (const cuts of [[], Array.from(body, (_, index) => index)]) {
      expect(filtered(body, cuts)).toEqual({ left: body, found: [], held: 0 })
    }
  }
})

verifies('contract-18.livez', 'what stays is handed on a chunk at a time, however many strings it has', () => {
  const body = `[${Array(1000).fill('{"role":"user","content":"a"}').join()}]`
  let pieces = 0
  const pass = createDataUrlFilter({
    maxBytes: 1,
    hold: () => {},
    keep: () => {
      pieces += 1
    },
    found: () => '',
  })
  pass(Buffer.from(body))
  expect(pieces).toBe(1)
})

verifies('contract-13.part-refusals', 'base64 is read strictly', () => {
  const read = (text: string, maxBytes?: number) => {
    const { found, held } = filtered(`{"url":"data:;base64,${text}"}`, [], maxBytes)
    const [url] = found
    return [url && bytesOf(url), held]
  }
  for (const broken of [
    'A',
    'AA',
    'AAA',
    'AA=',
    'A===',
    'AAAA=',
    'AA==AAAA',
    'AA-_',
    'AA A',
    'AAA!',
    'AAA\\n',
    '=',
    '====',
    'AA\\u00e9A',
    'AA\\u0141A',
    'AA\\u00zzA',
  ]) {
    expect([broken, ...read(broken)]).toEqual([broken, 'broken', 0])
  }
  const long = Buffer.alloc(300_000, 7)
  expect(read(long.toString('base64'))).toEqual([long, long.length])
  expect(read(long.subarray(1).toString('base64'))).toEqual([long.subarray(1), long.length - 1])
  expect(read(`${long.toString('base64').slice(0, -4)}!AAA`)).toEqual(['broken', 0])
  expect(read(long.toString('base64'), 299_999)).toEqual(['too large', 0])
  const { found } = filtered(`{"url":"data:;base64,${long.toString('base64')}"}`)
  expect(found[0]?.data).toMatchObject({ size: long.length, sha256: sha256(long) })
})

verifies('contract-13.part-refusals', 'names are cleaned', () => {
  const names: [string, string | null][] = [
    ['a.pdf', 'a.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a b.txt', 'a b.txt'],
    ['folder/', 'folder'],
    ['.hidden', 'hidden'],
    ['a\u202efdp.exe', 'afdp.exe'],
    ['a\r\nb\0c.txt', 'abc.txt'],
    ['"<>|:*?".txt', '________.txt'],
    ['ä\ud800.txt', 'ä\ufffd.txt'],
    ['...', null],
    ['', null],
    [' / ', null],
    [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(196)}.pdf`],
  ]
  for (const [name, clean] of names) expect([name, cleanName(name)]).toEqual([name, clean])
})
