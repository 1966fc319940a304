/** A misspelt setting is named at the start: it would be ignored without a word. */
import { expect, test } from 'vitest'
import { misspeltSettings } from '../../src/compose/start/misspelt-settings.ts'
import { table } from '../../src/settings.ts'

const names = Object.values(table).map(({ name }) => name)
const warned = (...given: string[]) =>
  misspeltSettings(Object.fromEntries(given.map((name) => [name, 'x'])), names).map((line) => line.split(' ')[0])

test.each([
  ['PUBLIC_API_KEYS', 'PUBLIC_API_KEY'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['OUTBOUND_ALOW', 'OUTBOUND_ALLOW'],
  ['TRUSTED_PROXY', 'TRUST_PROXY'],
])('%s is probably %s', (given, meant) => {
  expect(misspeltSettings({ [given]: 'x' }, names)).toEqual([
    `${given} is no setting and is ignored. ${meant} was probably meant.`,
  ])
})

test('a setting that counts only beside another one is named', () => {
  expect(misspeltSettings({ CACHE_URL: 'redis://r' }, names)).toEqual([
    'CACHE_URL has no effect: CACHE_PROVIDER is not set.',
  ])
  expect(misspeltSettings({ CACHE_URL: 'redis://r', CACHE_PROVIDER: 'redis' }, names)).toEqual([])
})

test('settings and the variables of other programs are left alone', () => {
  expect(warned(...names)).toEqual([])
  expect(
    warned('PATH', 'HOME', 'HOSTNAME', 'LOGNAME', 'LANG', 'PWD', 'OTEL_EXPORTER_OTLP_HEADERS', 'npm_config_port'),
  ).toEqual([])
})
