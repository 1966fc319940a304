/** Lookups of names that a model chose, which may never have an answer (contract sections 18 and 26). */
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, vi } from 'vitest'
import { valuesWithoutSession } from '../../../../src/templates/placeholders.ts'
import { fetchPage } from '../../../../src/tools/built-in/web-fetch.ts'
import { callHttpTool } from '../../../../src/tools/http-tools/http-tool.ts'
import { guardedFetch } from '../../../../src/tools/outbound/guarded-fetch.ts'
import { createOutbound, type Outbound, type OutboundInit } from '../../../../src/tools/outbound/outbound.ts'
import { fetchPicture } from '../../../../src/tools/outbound/picture.ts'
import { verifies } from '../../../verifies.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** Calls to names that resolve only when the test says so. */
function silentNames(threads: string) {
  vi.stubEnv('UV_THREADPOOL_SIZE', threads)
  const asked: string[] = []
  const answers: ((error: Error) => void)[] = []
  const outbound = createOutbound({
    policy: 'standard',
    allow: [],
    lookup: async (host) => {
      asked.push(host)
      return await new Promise((_, reject) => answers.push(reject))
    },
  })
  const over = new AbortController()
  const calls: Promise<unknown>[] = []
  return {
    asked,
    async call(of: string, count: number, chosenBy: 'admin' | 'model' = 'model') {
      for (let n = 0; n < count; n++) calls.push(callOnce(outbound, { of, chosenBy, signal: over.signal }, n))
      await settled()
    },
    /** Answers the lookup that is asked for longest. */
    async answer() {
      answers.shift()?.(new Error('no such name'))
      await settled()
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      while (answers.length > 0) await this.answer()
      await Promise.all(calls)
      await outbound[Symbol.asyncDispose]()
    },
  }
}

const callOnce = (outbound: Outbound, init: Parameters<Outbound['fetch']>[1], n: number): Promise<unknown> =>
  outbound.fetch(`http://${init.of}-${n}.test/`, init).catch(() => null)

/** Lets all that can go on do so: nothing here waits for a timer or a socket. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await setImmediate()
}

verifies('contract-18.a-turn-each', 'whoever asks for many names delays another one by a single name', async () => {
  await using names = silentNames('4')
  await names.call('many', 8)
  await names.call('one', 1)
  await names.answer()
  await names.answer()
  expect(names.asked).toEqual(['many-0.test', 'many-1.test', 'one-0.test'])
})

verifies(
  'contract-18.a-turn-each',
  'where two may be looked up at a time, names that never resolve delay nobody',
  async () => {
    await using names = silentNames('6')
    await names.call('many', 8)
    await names.call('one', 1)
    expect(names.asked).toEqual(['many-0.test', 'one-0.test'])
  },
)

verifies(
  'contract-18.a-turn-each',
  'a lookup for providers finds a thread, whatever names models ask for',
  async () => {
    for (const threads of [2, 4, 6, 8, 20]) {
      await using names = silentNames(`${threads}`)
      for (const user of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) await names.call(user, 2)
      // Node.js runs (threads + 1) / 2 lookups at a time, and one where there is a single thread.
      const most = Math.floor((threads + 1) / 2)
      expect([threads, names.asked.length]).toEqual([threads, Math.max(1, most - 1)])
      await names.call('provider', 1, 'admin')
      expect(names.asked.at(-1)).toBe('provider-0.test')
    }
  },
)

verifies('contract-18.a-turn-each', 'every call that may reach a name of a model says who it is for', async () => {
  const parties: OutboundInit['of'][] = []
  const refused = async (_: string | URL, { of }: OutboundInit) => {
    parties.push(of)
    throw new Error('refused')
  }
  const outbound: Outbound = {
    fetch: refused,
    call: () => Promise.reject(new Error('not meant')),
    traceparent: () => null,
    [Symbol.asyncDispose]: async () => {},
  }
  const { signal } = new AbortController()
  const url = 'https://a.test/'
  await fetchPage({ outbound, of: 'ann' }, url, signal)
  await fetchPicture(outbound, url, { maxBytes: 1, signal, hold() {}, of: 'bea' })
  const tool = { id: 't', name: 't', description: '', method: 'GET', url, headers: {}, body: null, inputSchema: null }
  await callHttpTool(outbound, tool, {}, signal, null, { ...valuesWithoutSession(), user: 'cay' })
  await callHttpTool(outbound, tool, {}, signal, null, { ...valuesWithoutSession(), sessionId: 's' })
  await guardedFetch(outbound)('https://mcp.test/x')(url).catch(() => null)
  expect(parties).toEqual(['ann', 'bea', 'cay', 's', 'https://mcp.test'])
})
