/** Clients whose default is the Responses API, unmodified (contract section 24). */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { deployUrl } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'
import type { ResponsesDriver } from '../driver.ts'
import { compareRecorded, openResponses } from '../matrix.ts'
import type { ResponsesRow } from '../rows.ts'
import { apiKey, openScene, type Scene } from '../scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene?.close())
beforeEach(() => scene.up.forget())

const base = () => ({ baseURL: deployUrl(scene.app.url, scene.agentId), apiKey })

async function sessions(): Promise<number> {
  const answer = await fetch(`${base().baseURL}/sessions`, { headers: { authorization: `Bearer ${apiKey}` } })
  return Object(await answer.json()).total
}

async function chooseTools(choice: object): Promise<void> {
  const url = `${scene.app.url}/api/v1/agents/${scene.agentId}/tools`
  const body = JSON.stringify({ httpToolIds: [], mcpServers: [], ...choice })
  const answer = await fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
  expect(answer.status).toBe(200)
}

const isResult = ({ role }: { role: string }) => role === 'tool'
const contentOf = ({ content }: { content: unknown }) => content

const clients: ResponsesDriver[] = await openResponses()

describe.each(clients)('$name', ({ name, version, set, keeps, loopBy, background, approves, talk }) => {
  const cells: Partial<Record<ResponsesRow, string>> = { set }

  verifies(
    'contract-24.unmodified',
    'a turn is answered, whole and streamed, and the next one finds its session',
    async () => {
      for (const stream of [false, true]) {
        const before = await sessions()
        const one = talk(base())
        const pieces: string[] = []
        scene.says('Hel', 'lo')
        expect(await one.turn('Hi', { stream, onText: (piece) => void pieces.push(piece) })).toBe('Hello')
        expect(pieces.join('')).toBe(stream ? 'Hello' : '')
        scene.says('Bye')
        expect(await one.turn('Go on', { stream })).toBe('Bye')
        expect(await sessions()).toBe(before + 1)
        expect(scene.up.calls.at(-1)?.body.messages.map(contentOf)).toEqual(['Hi', 'Hello', 'Go on'])
      }
      Object.assign(cells, { whole: 'yes', stream: 'yes', keeps })
    },
  )

  verifies(
    'contract-24.unmodified',
    'calls of the caller’s tools are made by the client until there is an answer',
    async () => {
      const before = await sessions()
      const called = scene.up.calls.length
      for (const word of ['sun', 'rain']) {
        scene.up.next(async (call) => {
          await call.toolCall({ name: 'lookup', arguments: JSON.stringify({ word }), id: `call-${word}` })
          await call.finish('tool_calls')
        })
      }
      scene.says('Both ', 'known.')
      const words: string[] = []
      const lookup = (word: string) => {
        words.push(word)
        return `${word} is weather`
      }
      const one = talk(base())
      expect(await one.turn('Look up sun and rain!', { stream: false, lookup })).toBe('Both known.')
      expect(words).toEqual(['sun', 'rain'])
      const results = scene.up.calls.slice(called).map(({ body }) => body.messages.filter(isResult).map(contentOf))
      expect(results).toEqual([[], ['sun is weather'], ['sun is weather', 'rain is weather']])
      scene.says('Done.')
      expect(await one.turn('Thanks', { stream: false })).toBe('Done.')
      expect(await sessions()).toBe(before + 1)
      cells.loop = loopBy
    },
  )

  if (background !== null) {
    verifies(
      ['contract-24.unmodified', 'contract-24.background'],
      'one in the background is left in the middle and followed to its end',
      async () => {
        scene.says('one ', 'two ', 'three')
        const followed = await talk(base()).inBackground?.('Hi')
        expect(followed?.text).toBe('one two three')
        expect(followed?.numbers).toEqual(followed?.numbers.map((_, n) => n))
        expect(followed?.numbers.length).toBeGreaterThan(8)
        cells.background = background
      },
    )
  }

  if (approves !== null) {
    verifies(
      ['contract-24.unmodified', 'contract-24.approvals'],
      'a call of the agent’s tool is shown and approved',
      async () => {
        await chooseTools({ builtInToolIds: ['current_time'], approvals: ['current_time'] })
        scene.up.next(async (call) => {
          await call.toolCall({ name: 'current_time', arguments: '{}', id: 'c1' })
          await call.finish('tool_calls')
        })
        scene.says('It is late.')
        expect(await talk(base()).approving?.('What time?')).toEqual({ tool: 'current_time', text: 'It is late.' })
        expect(scene.up.calls.at(-1)?.body.messages.filter(isResult)).toHaveLength(1)
        await chooseTools({ builtInToolIds: [], approvals: [] })
        cells.approves = approves
      },
    )
  }

  verifies('contract-24.unmodified', 'a failed generation is the client’s own error', async () => {
    scene.up.next((call) => call.error(400))
    const error: unknown = await talk(base())
      .turn('Hi', { stream: false })
      .catch((thrown: unknown) => thrown)
    const kind = Object(error).constructor.name
    expect(error).toBeInstanceOf(Error)
    cells.failed = `\`${kind}\``
  })

  compareRecorded(`responses-${name.replace(/\W+/g, '-').replace(/^-/, '')}`, () => ({
    client: name,
    version,
    cells: { responses: cells },
  }))
})
