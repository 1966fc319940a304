/** Contract section 35: requests through a proxy, by each of the ways out. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, vi } from 'vitest'
import { connectionProblem, failureOf } from '../../../../src/providers/wire/failure.ts'
import { problemOfAnswer } from '../../../../src/providers/wire/provider-errors.ts'
import { callFailure } from '../../../../src/tools/outbound/call-failure.ts'
import { createOutbound, type Lookup, type Outbound } from '../../../../src/tools/outbound/outbound.ts'
import type { ProxySettings } from '../../../../src/tools/outbound/proxy/proxy-choice.ts'
import { endSharedApps } from '../../../support/app.ts'
import { startHttpProxy } from '../../../support/network/http-proxy.ts'
import { verifies } from '../../../verifies.ts'

beforeAll(endSharedApps)

const never = new AbortController().signal
let tls: { key: string; cert: string }
beforeAll(async () => {
  const args = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout - -out -'
  const { stdout } = await promisify(execFile)('openssl', args.split(' '))
  tls = { key: stdout, cert: stdout }
})

/** A server of this machine, whatever its name. Returns its port. */
async function serve(isSecure = false): Promise<number> {
  const listener: RequestListener = async (request, response) => {
    request.resume()
    await once(request, 'end')
    response.writeHead(200, { 'x-login': `${request.headers['proxy-authorization']}` })
    response.end(`${request.method} ${request.url} for ${request.headers.host}`)
  }
  const server = isSecure ? createSecureServer(tls, listener) : createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const unknownHere: Lookup = async (host) => {
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
}

function behind(proxies: Partial<ProxySettings>, lookup: Lookup = unknownHere): Outbound {
  const all = { https: null, http: null, none: null, ...proxies }
  const outbound = createOutbound({ policy: 'standard', allow: [], lookup, proxies: all })
  onTestFinished(() => outbound[Symbol.asyncDispose]())
  return outbound
}

async function called(outbound: Outbound, url: string): Promise<[number, string]> {
  const answer = await outbound.call(url, { method: 'POST', headers: {}, body: '{}', signal: never })
  const pieces: Uint8Array[] = []
  await answer.read((bytes) => void pieces.push(Uint8Array.from(bytes)))
  return [answer.status, Buffer.concat(pieces).toString()]
}

async function fetched(outbound: Outbound, url: string): Promise<[number, string]> {
  const answer = await outbound.fetch(url, { chosenBy: 'model', method: 'POST', body: '{}', signal: never })
  return [answer.status, await answer.text()]
}

describe('a name that only the proxy knows', () => {
  for (const [way, ask] of [['calls of providers and webhooks', called] as const, ['fetch', fetched] as const]) {
    for (const proxyIsSecure of [false, true]) {
      for (const isSecure of [false, true]) {
        const title = `${way}: ${isSecure ? 'https' : 'http'} by a proxy that speaks ${proxyIsSecure ? 'https' : 'http'}`
        verifies('contract-35.proxy', title, async () => {
          vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
          onTestFinished(() => void vi.unstubAllEnvs())
          const login = 'ann:p@ss%/word'
          await using proxy = await startHttpProxy({ login, ...(proxyIsSecure && { tls }) })
          const port = await serve(isSecure)
          const its = `${proxyIsSecure ? 'https' : 'http'}://ann:p%40ss%25%2Fword@${proxy.host}`
          const outbound = behind(isSecure ? { https: its } : { http: its })
          const url = `${isSecure ? 'https' : 'http'}://inner.example:${port}/v1?q=1`
          for (let times = 0; times < 2; times += 1) {
            expect(await ask(outbound, url)).toEqual([200, `POST /v1?q=1 for inner.example:${port}`])
          }
          const tunnel = `CONNECT inner.example:${port}`
          expect([...new Set(proxy.seen)]).toEqual([isSecure ? tunnel : `POST ${url}`])
        })
      }
    }
  }

  verifies('contract-35.proxy', 'is called directly where NO_PROXY has it', async () => {
    await using proxy = await startHttpProxy()
    const port = await serve()
    const outbound = behind({ http: `http://${proxy.host}`, none: '127.0.0.0/8' })
    expect(await called(outbound, `http://127.0.0.1:${port}/`)).toEqual([200, `POST / for 127.0.0.1:${port}`])
    expect(proxy.seen).toEqual([])
  })
})

describe('an error says that the proxy was asked', () => {
  async function wordsOf(outbound: Outbound, url: string) {
    const error = await fetched(outbound, url).catch((problem: unknown) => problem)
    const same = await called(outbound, url).catch((problem: unknown) => problem)
    const { message, detail } = failureOf(connectionProblem(same), [])
    expect(`${message} ${detail} ${callFailure(error)}`).not.toMatch(/secret|c2VjcmV0/)
    return [message, callFailure(error)]
  }

  verifies('contract-35.proxy', 'where it cannot be reached', async () => {
    const gone = await startHttpProxy()
    await gone[Symbol.asyncDispose]()
    for (const scheme of ['http', 'https'] as const) {
      const outbound = behind({ [scheme]: `http://ann:secret@${gone.host}` })
      expect(await wordsOf(outbound, `${scheme}://inner.example/`)).toEqual([
        `The connection to the provider failed: connection refused; the proxy ${gone.host} was asked`,
        `The call failed: connection refused (the proxy ${gone.host} was asked).`,
      ])
    }
  })

  verifies('contract-35.proxy', 'where it wants another login, or does not reach the host', async () => {
    await using proxy = await startHttpProxy({ login: 'ann:other' })
    await using open = await startHttpProxy()
    for (const scheme of ['http', 'https'] as const) {
      const outbound = behind({ [scheme]: `http://ann:secret@${proxy.host}` })
      const [message, words] = await wordsOf(outbound, `${scheme}://inner.example/`)
      expect(message).toContain(`the proxy ${proxy.host} was asked, it wants a user and password (407)`)
      expect(words).toContain(`the proxy ${proxy.host} was asked, it wants a user and password (407)`)
    }
    const outbound = behind({ https: `http://${open.host}` })
    const [message] = await wordsOf(outbound, 'https://inner.example:1/')
    expect(message).toContain(`the proxy ${open.host} was asked, it answered 503`)
  })

  verifies('contract-35.proxy', 'where it may have answered for a provider itself', async () => {
    await using open = await startHttpProxy()
    const outbound = behind({ http: `http://${open.host}` })
    const answer = await outbound.call('http://inner.example:1/', { method: 'GET', headers: {}, signal: never })
    const { message } = failureOf(await problemOfAnswer(answer, 'GET', 'http://inner.example:1/'), [])
    expect(message).toBe(`The provider answered 502: (the proxy ${open.host} was asked)`)
  })

  verifies('contract-35.proxy', 'a call that its caller ends has the reason of that end', async () => {
    await using proxy = await startHttpProxy()
    const silent = createServer(() => {})
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const outbound = behind({ http: `http://${proxy.host}` })
    const caller = new AbortController()
    const url = `http://inner.example:${(silent.address() as AddressInfo).port}/`
    const answer = outbound.call(url, { method: 'GET', headers: {}, signal: caller.signal })
    silent.once('request', () => caller.abort(new Error('enough')))
    await expect(answer).rejects.toThrow('enough')
  })
})

describe('the outbound rule, through a proxy', () => {
  const addressed: Lookup = async (host) => [{ address: host === 'inner.example' ? '10.0.0.7' : '8.8.8.8', family: 4 }]

  verifies('contract-35.proxy-rule', 'literal addresses and names that resolve here are judged', async () => {
    await using proxy = await startHttpProxy()
    const outbound = behind({ http: `http://${proxy.host}` }, addressed)
    for (const host of ['127.0.0.1', '[::1]', '0x7f.1', '169.254.169.254', 'inner.example']) {
      await expect(fetched(outbound, `http://${host}/`)).rejects.toThrow('are not allowed')
    }
    await expect(called(outbound, 'http://169.254.169.254/')).rejects.toThrow('are not allowed')
    expect(proxy.seen).toEqual([])
    const port = await serve()
    expect((await fetched(outbound, `http://outer.example:${port}/`))[0]).toBe(200)
    expect((await called(outbound, `http://inner.example:${port}/`))[0]).toBe(200)
  })

  verifies('contract-35.proxy-rule', 'a name that takes too long here is no way around it for a model', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await using proxy = await startHttpProxy()
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const outbound = behind({ http: `http://${proxy.host}` }, () => new Promise(() => {}))
    await expect(fetched(outbound, 'http://slow.example/')).rejects.toThrow('No address for slow.example')
    vi.useRealTimers()
    const port = await serve()
    expect((await called(outbound, `http://slow.example:${port}/`))[0]).toBe(200)
    expect(limits).toEqual([10_000, 2000])
  })
})
