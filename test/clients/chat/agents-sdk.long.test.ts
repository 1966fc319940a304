/** The OpenAI Agents SDK: it has no more of a client than runs, whole or streamed. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { compareRecorded, openDriver } from '../matrix.ts'
import { ask } from '../play.ts'
import type { Row } from '../rows.ts'
import { type Kind, openScene, type Scene } from '../scene.ts'
import { loops } from './chat-answers.ts'

const driver = await openDriver('agents-sdk', '@openai/agents')
let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene?.close())
beforeEach(() => scene.up.forget())

const cells: Record<Kind, Partial<Record<Row, string>>> = { stateless: {}, session: {} }
describe.each(['stateless', 'session'] as const)('%s', (kind) => {
  const record = (row: Row, cell: string) => {
    cells[kind][row] = cell
  }

  verifies('spec-2.11.completion', 'a run is answered, whole and streamed', async () => {
    scene.says('Hel', 'lo')
    expect(await driver.whole(ask(await scene.baseUrl(kind), 'hi'))).toMatchObject({ text: 'Hello', error: null })
    record('whole', 'yes')
    const pieces: string[] = []
    scene.says('Hel', 'lo')
    const told = await driver.stream(ask(await scene.baseUrl(kind), 'hi'), { text: (piece) => void pieces.push(piece) })
    expect([told.error, pieces.join('')]).toEqual([null, 'Hello'])
    record('stream', 'yes')
  })

  loops({ kind, scene: () => scene, driver, record })
})

const { name: client, version } = driver
compareRecorded('agents-sdk', () => ({ client, version, cells }))
