import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { freeObject, nullable, page } from '../../../openapi/schemas/basics.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import { checkInput, validator } from '../../../src/http/server/input.ts'

describe('messages say which field and why (contract section 2)', () => {
  const check = checkInput({
    method: 'post',
    path: '/x',
    scope: 'management',
    summary: '',
    query: page,
    body: Type.Object({
      config: Type.Optional(Type.Object({ topP: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))) })),
      list: Type.Optional(Type.Array(Type.Integer(), { minItems: 1 })),
      kind: Type.Optional(Type.Enum(['a', 'b'])),
      schema: Type.Optional(freeObject('')),
    }),
    responses: { 200: null },
  })
  const messageFor = (body: unknown): string => {
    try {
      check({ params: {}, query: {}, body } as unknown as Parameters<typeof check>[0])
    } catch (error) {
      return error instanceof HttpError ? error.message : String(error)
    }
    return 'fine'
  }

  test.each([
    [{ config: { topP: 2 } }, 'config.topP: must be at most 1'],
    [{ config: { topP: '0' } }, 'config.topP: must be a number or null'],
    [{ config: { topP: null } }, 'fine'],
    [{ list: [] }, 'list: must have at least 1 element'],
    [{ list: [1, 1.5] }, 'list.1: must be a whole number'],
    [{ kind: 'c' }, 'kind: must be one of "a", "b"'],
    [{ schema: 'x' }, 'schema: must be an object'],
    [{ schema: JSON.parse(`{"a":${'['.repeat(101)}${']'.repeat(101)}}`) }, 'schema: must not be nested so deeply'],
    [{ schema: JSON.parse(`{"a":${'['.repeat(90)}${']'.repeat(90)}}`) }, 'fine'],
  ])('%j', (body, message) => expect(messageFor(body)).toBe(message))
})

test('a schema is compiled once for all apps of a process', () => {
  const schema = Type.Object({ name: Type.String() })
  const [one, other] = [validator(schema), validator(schema)]
  expect(one()).toBe(other())
})
