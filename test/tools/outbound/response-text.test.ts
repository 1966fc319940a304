/** Text is known by its bytes where the type does not say (contract section 25). */
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { isText } from '../../../src/tools/outbound/response-text.ts'
import { verifies } from '../../verifies.ts'

const unsaid = [
  '',
  '*/*',
  'application/octet-stream',
  'binary/octet-stream',
  'application/unknown',
  'unknown/unknown',
] as const
const utf16 = Buffer.from('\ufeffhallo', 'utf16le')
const texts: Record<string, Buffer> = {
  words: Buffer.from('plain words'),
  'lines and tabs': Buffer.from('a\tb\r\nc\n'),
  'letters of many bytes': Buffer.from('✓'.repeat(1000)),
  'letters of which the last is cut off': Buffer.from('✓'.repeat(1000)).subarray(0, -1),
  'UTF-8 with a byte order mark': Buffer.from('\ufeffhallo'),
  'UTF-16': utf16,
  'UTF-16, the other way round': Buffer.from(utf16).swap16(),
  nothing: Buffer.of(),
}
const binaries: Record<string, Buffer> = {
  'a packed file': gzipSync('plain words'),
  'a PDF': Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj', 'latin1'),
  'an MP3': Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0]),
  'a mark before no letters': Buffer.from([0xff, 0xfe, 1, 0, 0, 0xd8]),
  'a script that packs an archive': Buffer.concat([Buffer.from('#!/bin/sh\n'.repeat(200)), gzipSync('x')]),
}

verifies(
  ['contract-6.http-limits', 'contract-6.web-fetch'],
  'text is known by its bytes where the type does not say',
  () => {
    for (const type of unsaid) {
      for (const [what, bytes] of Object.entries(texts))
        expect([type, what, isText(type, bytes)]).toEqual([type, what, true])
      // An answer without any type may be in any encoding, so only zeros at its beginning show that it is no text.
      if (type === '') continue
      for (const [what, bytes] of Object.entries(binaries)) {
        expect([type, what, isText(type, bytes)]).toEqual([type, what, false])
      }
      expect([type, isText(type, Buffer.from('une école', 'latin1'))]).toEqual([type, false])
    }
    expect([isText('', Buffer.from('une école', 'latin1')), isText('', Buffer.from([0x89, 0x50, 0, 1]))]).toEqual([
      true,
      false,
    ])
  },
)

verifies(['contract-6.http-limits', 'contract-6.web-fetch'], 'a type that says what it is stands', () => {
  for (const type of ['text/plain', 'application/json', 'application/x-json', 'application/vnd.api+json', 'text/csv']) {
    expect([type, isText(type, Buffer.from([0x80]))]).toEqual([type, true])
  }
  for (const type of ['image/png', 'application/pdf', 'application/zip', 'video/mp4']) {
    expect([type, isText(type, Buffer.from('plain words'))]).toEqual([type, false])
  }
})
