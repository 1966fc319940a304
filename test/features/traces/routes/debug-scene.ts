/** What the tests of the debug routes share: finished sessions, their recorded steps, the stream of them. */

import { openScene, type SceneOptions } from '../../../http/scene.ts'
import { openSse } from '../../../support/streams/sse.ts'

export const debug = '/api/v1/debug'

interface Step {
  from: string
  event: string
  to: string
}
export const path = ({ from, event, to }: Step) => `${from} ${event} ${to}`

/** The path of a session's first reply. */
export const whole = [
  'idle message streaming.generating',
  'streaming.generating finished streaming.settling',
  'streaming.settling settled complete',
]

export async function openDebugScene(options: SceneOptions = {}) {
  const scene = await openScene(options)
  return {
    scene,
    /** A session with one finished reply. */
    async finished(text = 'x'): Promise<string> {
      scene.says(['ok'])
      const id = await scene.newSession()
      await scene.send(id, text)
      return id
    },
    /** Without the notes between them. */
    steps: async (id: string, query = '') =>
      (await scene.call('GET', `${debug}/sessions/${id}/transitions?kind=transition${query}`)).json,
    notes: async (id: string) =>
      (await scene.call('GET', `${debug}/sessions/${id}/transitions?kind=note`)).json.transitions,
    follow: (id: string, last?: number | string) =>
      openSse(
        `${scene.app.url}${debug}/sessions/${id}/transitions/stream?kind=transition`,
        undefined,
        last === undefined ? {} : { 'last-event-id': `${last}` },
      ),
  }
}
