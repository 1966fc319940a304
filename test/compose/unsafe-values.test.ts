/** Values of settings that would start a server that is open, or that waits for a host of another name. */
import { expect, test } from 'vitest'
import { readSettings } from '../../src/settings.ts'
import { shortSecrets } from '../../src/settings-checks.ts'

test('secrets that are short are named, without their value', () => {
  const warned = (environment: Record<string, string>) => shortSecrets(readSettings(environment))
  expect(warned({ SECRET_KEY: 'abc', PUBLIC_API_KEY: 'a' })).toEqual([
    expect.stringMatching(/^SECRET_KEY has less than 16 characters/),
    expect.stringMatching(/^PUBLIC_API_KEY has less than 16 characters/),
  ])
  expect(warned({})).toEqual([])
  expect(warned({ SECRET_KEY: 'sixteen letters.', PUBLIC_API_KEY: 'x'.repeat(16) })).toEqual([])
})

test.each([
  '$2b$10$abcdefghijklmnopqrstuv',
  '$2y$05$x',
  '$argon2id$v=19$x',
  '$apr1$x$y',
  '{SHA}x',
  '$6$x$y',
])('a hash of another program is no password: %s', (password) => {
  expect(() => readSettings({ AUTH_CREDENTIALS: `admin:${password}` })).toThrow(
    /^AUTH_CREDENTIALS: entry 1 .*hash-password/,
  )
})

test.each([
  'postgres://u:p@ss@host/db',
  'postgres://u:12/3@host/db',
  'postgres://u:12#3@host/db',
  'postgres://u:p?ss@host/db',
  'postgres://u:p%ss@host/db',
])('a password that is not percent-encoded is said at once: %s', (url) => {
  expect(() => readSettings({ DATABASE_URL: url })).toThrow(/^DATABASE_URL: its user or password .* %40.* %25/)
})

test.each([
  'postgres://host/db?user=me@server',
  'postgres://me:100%25@host/db?options=-c%20search_path%3Da',
  'postgres://me:12@one:5432,two:5433/db',
])('an address that is percent-encoded is taken: %s', (url) => {
  expect(readSettings({ DATABASE_URL: url }).databaseUrl).toBe(url)
})
