/** Tables of answers as CSV. */
import { expect, test } from 'vitest'
import { csvOf } from '../../../../ui/src/playground/markdown/rich/csv.ts'

test('cells that a spreadsheet would run as formulas are texts; numbers stay numbers', () => {
  const formulas = ['=1+1', '+cmd|x', '-2+3', '@SUM(A1)', ' =1', '\t=1']
  expect(csvOf([formulas])).toBe(formulas.map((cell) => `'${cell}`).join(','))
  expect(csvOf([['-5', '+1.5', '-1 000', '10%', 'a=b', '']])).toBe('-5,+1.5,-1 000,10%,a=b,')
  expect(csvOf([['=A1,"x"']])).toBe(`"'=A1,""x"""`)
})

test('cells that CSV would misread are quoted', () => {
  expect(
    csvOf([
      ['a', 'b,c'],
      ['say "x"', 'two\nlines'],
    ]),
  ).toBe('a,"b,c"\r\n"say ""x""","two\nlines"')
})
