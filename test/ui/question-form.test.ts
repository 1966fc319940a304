/** Answers to a form of an MCP server (contract section 35). */
import { expect } from 'vitest'
import { fieldsOf, formContent } from '../../ui/src/playground/composer/question/question-form.ts'
import { verifies } from '../verifies.ts'

verifies('contract-35.digits', 'a long number goes as it was typed; text stays text', () => {
  const number = { type: 'integer' }
  const fields = fieldsOf({ properties: { id: number, price: { type: 'number' }, age: number, bad: number, code: {} } })
  const values = {
    id: '1917043659912705297',
    price: '-12345678901234.50',
    age: 4,
    bad: '007',
    code: '19170436599127052',
  }
  expect(JSON.stringify(formContent(fields, values))).toBe(
    '{"id":1917043659912705297,"price":-12345678901234.50,"age":4,"bad":"007","code":"19170436599127052"}',
  )
})
