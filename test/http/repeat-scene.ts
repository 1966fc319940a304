/** What the tests of repeated requests share: replies that stand still, and how many follow them. */
import { untilFollowed } from '../support/followers.ts'
import { openScene, type SceneOptions } from './scene.ts'

export async function openRepeatScene(options: SceneOptions = {}) {
  const scene = await openScene(options)
  return {
    scene,
    contents: async (id: string) => (await scene.messages(id)).map(({ content }) => content),

    /** A reply that has said `Par` and stands still, with the stream of who asked for it. */
    async running(id: string, text: string, headers: Record<string, string> = {}) {
      const next = scene.byHand()
      const stream = await scene.stream(id, text, {}, headers)
      const up = await next
      await stream.next()
      await up.text('Par')
      await stream.next()
      return { up, stream }
    },

    untilFollowed: (id: string, by: number) => untilFollowed(scene.app.url, id, by),
  }
}
