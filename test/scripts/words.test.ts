import { expect, test } from 'vitest'
import { adviceFor, checkSql, checkTypeScript, longSubjects } from '../../scripts/words.ts'

const found = (text: string, path = 'a.ts'): string[] =>
  checkTypeScript(path, text).map(({ line, says }) => `${line} ${says}`)

test.each([
  '/** The sum. */\nfunction a() {}',
  '/** The sum. */\nexport async function a() {}',
  '/** The sum. */\nexport const a = (b: number): number => b',
  '/** The sum. */\nconst a = (function () {}) satisfies unknown',
  'const a = {\n  /** The sum. */\n  b: () => 1,\n}',
  'class A {\n  /** The sum. */\n  a() {}\n}',
  'interface A {\n  /** The sum. */\n  a(): number\n}',
])('the comment of a function begins with a verb: %s', (text) => {
  expect(found(text)).toHaveLength(1)
  expect(found(text.replaceAll('The sum', 'Returns the sum'))).toEqual([])
})

test.each([
  '/** Returns the sum. */\nasync function a(): Promise<void> {}',
  '/** Returns the sum. */\nexport const a = (): void => {}',
  'interface A {\n  /** Returns the sum. */\n  a(): void\n}',
])('the comment of a function that returns nothing does not begin with Returns: %s', (text) => {
  expect(found(text)).toHaveLength(1)
  expect(found(text.replace('Returns the sum', 'Adds the sum'))).toEqual([])
})

test.each([
  '/** The sum. */\nconst a = 1',
  '/** Sums by day. */\ninterface A {}',
  'interface A {\n  /** The sum. */\n  a: number\n}',
  'interface A {\n  /** Called with the sum. */\n  a: (sum: number) => void\n}',
  'const a = {\n  /** Adds the sum. */\n  a: useCallback((sum) => sum),\n  /** Adds the sum. */\n  b: c ? null : () => 1,\n}',
  '/** True if it was added. */\nlet a = true',
])('the comment of a type, a field or a constant begins with a noun: %s', (text) => {
  expect(found(text)).toEqual([])
  expect(found(text.replace(/\/\*\* \w+/, '/** What'))).toHaveLength(1)
})

test.each([
  'What',
  'One',
  'Those',
  'Its',
  'Where',
  'As',
  'Likewise',
  'Whoever',
  'Somebody',
  'Nobody',
])('no comment begins with "%s", not even that of a file', (word) => {
  for (const rest of ["import 'a'", 'type A = 1', 'const a = 1', 'function a() {}'])
    expect(found(`/** ${word} is added. */\n${rest}`)).toEqual([`1 ${word} is added.`])
})

test('a component of the pages may begin with a noun; another function of its file may not', () => {
  expect(found('/** The list. */\nexport function List() {}', 'a.tsx')).toEqual([])
  expect(found('/** The list. */\nexport function list() {}', 'a.tsx')).toHaveLength(1)
  expect(found('/** The list. */\nexport function List() {}')).toHaveLength(1)
})

test('a plural is no verb; a word that is both is a verb unless a relative clause or preposition follows', () => {
  expect(adviceFor('function', '/** Messages of the path. */')).not.toBeNull()
  expect(adviceFor('function', '/** Less than that. */')).not.toBeNull()
  expect(adviceFor('function', '/** Calls that wait. */')).not.toBeNull()
  expect(adviceFor('function', '/** Calls the model. */')).toBeNull()
  expect(adviceFor('function', '/** Ends with an error. */')).toBeNull()
  expect(adviceFor('function', '/** Reports that the lease is lost. */')).toBeNull()
  expect(adviceFor('declaration', '/** Holds the key. */')).not.toBeNull()
})

test('a comment is named by its own line, and a file by its first', () => {
  const text = "/**\n * The server's\n * parts.\n */\nimport 'a'\n\n/**\n * What is\n * added.\n */\nconst a = 1\n"
  expect(found(text)).toEqual(['7 What is added.'])
})

test('a line comment and a tag are not checked', () => {
  expect(found('// The sum.\nfunction a() {}\n/* What is added. */\nconst c = 1')).toEqual([])
  expect(found('// What is added.\nconst a = 1\n/** @internal */\nconst b = () => 1')).toEqual([])
})

test('the comment of an SQL function begins with a verb; that of an index with no banned word', () => {
  const body = 'create or replace function a() returns void language sql as $$ select 1 $$;\n'
  expect(checkSql(`-- revision 1\n/* Stores a row. */\n${body}`)).toEqual([])
  expect(checkSql(`-- revision 1\n/* The rows of\n   a user. */\n${body}`)).toMatchObject([
    { line: 2, says: 'The rows of a user.' },
  ])
  expect(checkSql('-- Sessions by time.\ncreate index a on b (c);\n')).toEqual([])
  expect(checkSql('-- What is read by time.\ncreate index a on b (c);\n')).toHaveLength(1)
})

test('the subject of a commit has at most 72 characters', () => {
  const [fits, long] = ['a'.repeat(72), 'a'.repeat(73)]
  expect(longSubjects(`0123abc ${fits}\n0123abd ${long}\n`)).toEqual([`0123abd ${long}`])
})
