/** Contract section 32: Word and Excel documents as text. */
import { expect } from 'vitest'
import { convertDocument } from '../../../../src/features/parts/documents/convert.ts'
import { verifies } from '../../../verifies.ts'
import { EXCEL, excel, paragraph, WORD, word } from './made-documents.ts'

const textOf = async (bytes: Buffer): Promise<[string, string] | object | string> => {
  const converted = await convertDocument({ size: bytes.length, chunks: [bytes] })
  return typeof converted === 'object' && 'text' in converted
    ? [converted.mediaType, converted.text.toString()]
    : converted
}
const cell = (text: string) => `<w:tc><w:tcPr><w:shd/></w:tcPr>${text}</w:tc>`

verifies(
  'contract-32.documents',
  'a Word document: paragraphs, headings, list items, and tables with tabs',
  async () => {
    const body = [
      `<w:p><w:pPr><w:pStyle w:val="Heading1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>`,
      '<w:p><w:r><w:t>One</w:t><w:tab/><w:t xml:space="preserve"> &amp; two</w:t><w:br/><w:t>below</w:t></w:r></w:p><w:p/>',
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>`,
      `<w:tbl><w:tblPr/><w:tr>${cell(paragraph('a') + paragraph('b\tc'))}${cell('<w:p/>')}${cell(
        `<w:tbl><w:tr>${cell(paragraph('x'))}${cell(paragraph('y'))}</w:tr></w:tbl>`,
      )}</w:tr></w:tbl>`,
      '<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>',
      '<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>',
      `<w:p><w:r><mc:AlternateContent xmlns:mc="m"><mc:Choice><w:txbxContent>${paragraph('box')}</w:txbxContent></mc:Choice><mc:Fallback>${paragraph('box')}</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>last</w:t></w:r></w:p>`,
    ]
    const lines = ['Head', 'One\t & two', 'below', 'item', 'a b c\t\tx y', 'new', 'box', 'last', '']
    expect(await textOf(word(body.join('')))).toEqual([WORD, lines.join('\n')])
  },
)

verifies(
  'contract-32.documents',
  'an Excel document: visible sheets as CSV, results of formulas, ISO dates',
  async () => {
    const rows = [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>a "b", c</t></is></c></row>',
      '<row r="2"><c r="A2"><f>SUM(1,2)</f><v>3</v></c><c r="B2"><v>1.1000000000000001</v></c><c r="C2" t="b"><v>1</v></c></row>',
      '<row r="5"><c r="A5" s="1"><v>45292</v></c><c r="B5" s="2"><v>45292.5</v></c><c r="C5" s="3"><v>0.25</v></c><c r="D5" s="4"><v>1.5</v></c></row>',
      '<row r="6"><c r="A6" t="e"><v>#DIV/0!</v></c><c r="B6" t="str"><f>A1</f><v>text</v></c><c r="AA6"><v>7</v></c></row>',
      '<row r="7"><c r="A7"/></row>',
    ]
    const bytes = excel(
      [
        { name: 'One &amp; two', rows: rows.join('') },
        ...['hidden', 'veryHidden'].map((state) => ({ name: 'Not seen', rows: rows.join(''), state })),
        { name: 'Old', rows: '<row><c s="1"><v>1</v></c><c t="d"><v>2024-02-03</v></c></row>' },
      ],
      {
        strings: ['<r><t>ri</t></r><r><t>ch</t></r><rPh><t>no</t></rPh>'],
        formats: ['hh:mm', '[h]:mm', '0.0 &quot;d&quot;'],
      },
    )
    const lines = [
      '# One & two',
      'rich,,"a ""b"", c"',
      '3,1.1,TRUE',
      '2024-01-01,2024-01-01T12:00:00,06:00:00,1.5',
      `#DIV/0!,text,${','.repeat(24)}7`,
      '# Old',
      '1900-01-01,2024-02-03',
      '',
    ]
    expect(await textOf(bytes)).toEqual([EXCEL, lines.join('\n')])
    const old = excel([{ name: 'a', rows: '<row><c s="1"><v>1</v></c></row>' }], { is1904: true })
    expect(await textOf(old)).toEqual([EXCEL, '# a\n1904-01-02\n'])
  },
)

verifies(
  'contract-32.documents',
  'a text of more than 400,000 characters is cut, and its last line says so',
  async () => {
    const whole = word(paragraph('x'.repeat(399_999)))
    expect(await textOf(whole)).toEqual([WORD, `${'x'.repeat(399_999)}\n`])
    const cut = word(paragraph('x'.repeat(399_998)) + paragraph('😀 and more'))
    const last = '[Cut: 399999 of 400011 characters.]'
    expect(await textOf(cut)).toEqual([WORD, `${'x'.repeat(399_998)}\n\n${last}`])
  },
)

verifies('contract-18.a-turn-each', 'whoever brings many delays another one by a single document', async () => {
  const ended: string[] = []
  const convert = async (of: string) => {
    await convertDocument({ size: 4, chunks: [Buffer.from('none')], of })
    ended.push(of)
  }
  await Promise.all([...Array.from({ length: 8 }, () => convert('many')), convert('one')])
  // Two are converted at once, and end in any order: two began before it waited, two go before it, and one beside it.
  expect(ended.indexOf('one')).toBeLessThan(6)
})
