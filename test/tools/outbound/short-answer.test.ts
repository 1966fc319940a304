/** The bounds of calls to authorization servers (contract sections 27 and 33). */
import { expect, onTestFinished, vi } from 'vitest'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { fetchShort } from '../../../src/tools/outbound/short-answer.ts'
import { verifies } from '../../verifies.ts'
import { startWebServer } from '../web-server.ts'

verifies(
  'contract-27.outbound',
  'an answer holds 1 MiB, and five redirects within its origin are followed',
  async () => {
    await using outbound = createOutbound({ policy: 'standard', allow: [] })
    await using elsewhere = await startWebServer((_, response) => response.end('elsewhere'))
    await using server = await startWebServer(({ url = '' }, response) => {
      const [, what, count] = url.split('/')
      if (what === 'bytes') response.end('x'.repeat(Number(count)))
      else if (what === 'empty') response.writeHead(204).end()
      else if (what === 'away') response.writeHead(302, { location: elsewhere.url }).end('away')
      else if (count === '0') response.end('arrived')
      else response.writeHead(302, { location: `/hops/${Number(count) - 1}` }).end('on the way')
    })
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetchShort(outbound, server.url + path, { method, headers: {}, body: null })
      return [answer.status, await answer.text()]
    }
    expect(await ask('/empty')).toEqual([204, ''])
    expect(await ask('/bytes/1048576')).toEqual([200, 'x'.repeat(2 ** 20)])
    await expect(ask('/bytes/1048577')).rejects.toThrow('more than 1024 KiB')
    expect([await ask('/hops/5'), await ask('/hops/6')]).toEqual([
      [200, 'arrived'],
      [302, 'on the way'],
    ])
    expect(await ask('/hops/1', 'POST')).toEqual([302, 'on the way'])
    expect(await ask('/away')).toEqual([302, 'away'])
    expect(elsewhere.requests).toEqual([])
  },
)

verifies('contract-27.outbound', 'an answer has 10 s, all redirects together', async () => {
  const asked = Promise.withResolvers<void>()
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  await using server = await startWebServer(({ url }, response) => {
    if (url === '/') response.writeHead(302, { location: '/silent' }).end()
    else asked.resolve()
  })
  const clock = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    return ms === 10_000 ? clock.signal : new AbortController().signal
  })
  onTestFinished(() => timeout.mockRestore())
  const answer = fetchShort(outbound, server.url, { method: 'GET', headers: {}, body: null })
  await asked.promise
  expect(timeout.mock.calls[0]).toEqual([10_000])
  clock.abort(new Error('10 s are over'))
  await expect(answer).rejects.toThrow('10 s are over')
})
