/** What a client of the chat-completions format may do, at both kinds of base URL. One suite for every client. */
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import type { Driver } from '../driver.ts'
import { compareRecorded } from '../matrix.ts'
import type { Play } from '../play.ts'
import type { Recorded, Row } from '../rows.ts'
import { rows } from '../rows.ts'
import { type Kind, openScene, type Scene } from '../scene.ts'
import { answers } from './chat-answers.ts'
import { failures } from './chat-failures.ts'
import { retries } from './chat-retries.ts'

/** `file` is the name of what is recorded of it. */
export function chatSuite(file: string, driver: Driver): void {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene()
  })
  afterAll(() => scene?.close())
  // What a client did not ask for, or a failed test left, is not played to the next one.
  beforeEach(() => scene.up.forget())

  const cells: Record<Kind, Partial<Record<Row, string>>> = { stateless: {}, session: {} }
  for (const kind of ['stateless', 'session'] as const) {
    const record = (row: Row, cell: string) => {
      cells[kind][row] = cell
    }
    const play: Play = { kind, scene: () => scene, driver, record }
    describe(kind, () => {
      answers(play)
      failures(play)
      retries(play)
    })
  }
  compareRecorded(file, () => inOrder(driver, cells))
}

function inOrder({ name, version }: Driver, cells: Record<Kind, Partial<Record<Row, string>>>): Recorded {
  const ordered = (seen: Partial<Record<Row, string>>) =>
    Object.fromEntries(Object.keys(rows).flatMap((row) => (seen[row as Row] ? [[row, seen[row as Row]]] : [])))
  return { client: name, version, cells: { stateless: ordered(cells.stateless), session: ordered(cells.session) } }
}
