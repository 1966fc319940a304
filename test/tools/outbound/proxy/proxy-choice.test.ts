/** Contract section 35: which requests go through a proxy. */
import { expect } from 'vitest'
import { proxyChoice } from '../../../../src/tools/outbound/proxy/proxy-choice.ts'
import { verifies } from '../../../verifies.ts'

const direct = (none: string, ...urls: string[]) => {
  const proxyOf = proxyChoice({ https: 'http://s', http: 'http://p', none })
  return urls.map((url) => proxyOf(new URL(url)) === null)
}

verifies('contract-35.proxy', 'https and http have their own proxies, or none', () => {
  const proxyOf = proxyChoice({ https: 'http://secure', http: null, none: null })
  expect([proxyOf(new URL('https://a.com')), proxyOf(new URL('http://a.com'))]).toEqual(['http://secure', null])
  const other = proxyChoice({ https: null, http: 'http://plain', none: '' })
  expect([other(new URL('https://a.com')), other(new URL('http://a.com'))]).toEqual([null, 'http://plain'])
})

const rows: [none: string, inside: string[], outside: string[]][] = [
  ['example.com', ['http://example.com', 'https://a.EXAMPLE.com.', 'http://example.com:81'], ['http://anexample.com']],
  ['.example.com', ['http://a.example.com', 'http://example.com'], ['http://example.org']],
  ['*.example.com', ['http://a.b.example.com'], ['http://example.com']],
  ['example.com:8080', ['http://example.com:8080', 'http://a.example.com:8080'], ['http://example.com']],
  ['a.com:443', ['https://a.com'], ['http://a.com']],
  ['a.com, b.com  c.com,', ['http://a.com', 'http://b.com', 'http://c.com'], ['http://d.com']],
  ['*', ['http://a.com', 'https://[::1]:1'], []],
  ['x.invalid, *', ['http://a.com'], []],
  ['10.0.0.0/8', ['http://10.1.2.3', 'http://[::ffff:10.1.2.3]'], ['http://11.0.0.1', 'http://10.example.com']],
  ['fd00::/8', ['http://[fd12::1]:8080'], ['http://[fe80::1]', 'http://10.0.0.1']],
  ['192.168.1.7', ['http://192.168.1.7:99'], ['http://192.168.1.8']],
  ['192.168.1.7:80', ['http://192.168.1.7'], ['http://192.168.1.7:81']],
  ['[::1]:8080', ['http://[::1]:8080'], ['http://[::1]']],
  ['::1', ['http://[::1]', 'http://[0:0:0:0:0:0:0:1]:5'], ['http://[::2]']],
  ['bücher.example', ['http://xn--bcher-kva.example', 'http://bücher.example'], ['http://b.example']],
  ['10.0.0.0/99, /, :, a/b', [], ['http://10.0.0.1', 'http://a.com']],
]
for (const [none, inside, outside] of rows) {
  verifies('contract-35.proxy', `NO_PROXY ${none}`, () => {
    expect(direct(none, ...inside)).toEqual(inside.map(() => true))
    expect(direct(none, ...outside)).toEqual(outside.map(() => false))
  })
}
