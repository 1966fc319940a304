/** Contract section 18: a large body is read in a turn of its own, so that `/livez` waits for one step of it at most. */
import Fastify from 'fastify'
import { afterEach, expect, vi } from 'vitest'
import { registerJson } from '../../../src/http/server/body.ts'
import { verifies } from '../../verifies.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

interface Turns {
  arrived: number
  /** The turns in which the bodies were read. */
  read: number[]
  handled: number
}

/** The turns of the event loop in which things happened, from the last body's arrival to its handler. */
async function turnsOf(payload: string, bodies = 1): Promise<Turns> {
  let turn = 0
  let timer = setImmediate(() => {})
  const count = () => {
    turn += 1
    timer = setImmediate(count)
  }
  count()
  const turns: Turns = { arrived: 0, read: [], handled: 0 }
  const { parse } = JSON
  vi.spyOn(JSON, 'parse').mockImplementation((text, ...more) => {
    if (text === payload) turns.read.push(turn)
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
  const send = async () => (await app.inject({ method: 'POST', url: '/', payload, headers: json })).statusCode
  expect(await Promise.all(Array.from({ length: bodies }, send))).toEqual(Array(bodies).fill(200))
  clearImmediate(timer)
  return turns
}

const json = { 'content-type': 'application/json' }

const large = JSON.stringify({ x: 'x'.repeat(300_000) })

verifies('contract-18.livez', 'others have their turn before and after a large body is read', async () => {
  const { arrived, read, handled } = await turnsOf(large)
  const [turn = 0] = read
  expect(turn).toBeGreaterThan(arrived)
  expect(handled).toBeGreaterThan(turn)
})

verifies('contract-18.livez', 'no two large bodies are read in one turn', async () => {
  const { read } = await turnsOf(large, 8)
  expect(read).toHaveLength(8)
  expect(new Set(read).size).toBe(8)
})
