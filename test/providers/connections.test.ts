/** Calls that never reach a provider, and who makes them: contract sections 3 and 6. */
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ProviderFetch } from '../../src/providers/request/fetch.ts'
import { ask, connectionTo, failureIn, requestTo, scene } from './scene.ts'

describe('connections that cannot be made', () => {
  test('refused: provider_error, the kind alone for the caller, all of it in the detail', async () => {
    const { model } = await scene({ providerRetries: 0 })
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await new Promise((resolve) => server.close(resolve))
    const failure = failureIn(await ask(model, requestTo({ url: `http://127.0.0.1:${port}/v1` })))
    expect(failure).toMatchObject({
      code: 'provider_error',
      message: 'The connection to the provider failed: connection refused',
      detail: expect.stringContaining(`127.0.0.1:${port}`),
    })
    const { message } = await model.testProvider(connectionTo(`http://127.0.0.1:${port}/v1`))
    expect(message.match(/ECONNREFUSED/g), 'the test of a provider says it once').toHaveLength(1)
    expect(message).toContain(`127.0.0.1:${port}`)
  })

  test('TLS where there is none fails with kind only', async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const failure = failureIn(await ask(model, requestTo({ url: up.url.replace('http:', 'https:') })))
    expect(failure.code).toBe('provider_error')
    expect(failure.message).toMatch(/^The connection to the provider failed: /)
    expect(failure.message).not.toContain('127.0.0.1')
  })

  test('every call goes through the fetch that was handed in; what it refuses is final', async () => {
    const asked: string[] = []
    const fetch: ProviderFetch = async (url) => {
      asked.push(url)
      throw Object.assign(new Error('10.0.0.1 is not allowed'), { code: 'OUTBOUND_REFUSED' })
    }
    const { up, model } = await scene({ fetch })
    const { message } = failureIn(await ask(model, requestTo(up)))
    expect(message).toBe('The connection to the provider failed: address not allowed')
    expect(asked).toEqual([`${up.url}/chat/completions`])
    await model.testProvider(connectionTo(up.url))
    expect(asked).toHaveLength(2)
    expect(up.requests).toEqual([])
  })

  test('a type of a later version is said in plain words to be out of reach', async () => {
    const { model } = await scene()
    const failure = failureIn(await ask(model, requestTo(null, { provider: connectionTo(null, 'later') })))
    expect(failure.code).toBe('provider_error')
    expect(failure.message).toMatch(/cannot be called by this version/)
  })

  test('no base URL, or a key that no header can carry, is a failure, not a fault', async () => {
    const { up, model } = await scene()
    expect(failureIn(await ask(model, requestTo(up, { provider: connectionTo(null) }))).message).toMatch(/base URL/)
    const odd = { ...connectionTo(up.url), apiKey: 'schlüssel\n2' }
    expect(failureIn(await ask(model, requestTo(up, { provider: odd }))).message).toMatch(/API key/)
  })
})
