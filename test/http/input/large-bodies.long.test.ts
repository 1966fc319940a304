/** Contract section 18: a large body is read in a turn of its own, so that `/livez` waits for one step of it at most. */
import Fastify from 'fastify'
import { afterEach, expect, vi } from 'vitest'
import { registerJson } from '../../../src/http/server/body.ts'
import { verifies } from '../../verifies.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** What happened in which turn of the event loop, from the body's arrival to its handler. */
async function turnsOf(payload: string): Promise<Record<'arrived' | 'read' | 'handled', number>> {
  let turn = 0
  let timer = setImmediate(() => {})
  const count = () => {
    turn += 1
    timer = setImmediate(count)
  }
  count()
  const turns = { arrived: 0, read: 0, handled: 0 }
  const { parse } = JSON
  vi.spyOn(JSON, 'parse').mockImplementation((text, ...more) => {
    if (text === payload) turns.read = turn
    return parse(text, ...more)
  })
  await using app = Fastify()
  registerJson(app, 'management')
  app.addHook('preParsing', async (_request, _reply, stream) => {
    stream.once('end', () => {
      turns.arrived = turn
    })
    return stream
  })
  app.post('/', async () => {
    turns.handled = turn
    return {}
  })
  expect((await app.inject({ method: 'POST', url: '/', payload, headers: json })).statusCode).toBe(200)
  clearImmediate(timer)
  return turns
}

const json = { 'content-type': 'application/json' }

verifies('contract-18.livez', 'others have their turn before and after a large body is read', async () => {
  const { arrived, read, handled } = await turnsOf(JSON.stringify({ x: 'x'.repeat(300_000) }))
  expect(read).toBeGreaterThan(arrived)
  expect(handled).toBeGreaterThan(read)
})
