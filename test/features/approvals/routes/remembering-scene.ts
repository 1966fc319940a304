/** Calls of the tool `pay` that are decided, and decisions that are remembered (contract section 29). */
import type { SceneOptions } from '../../../http/scene.ts'
import { openWaitingScene } from './waiting-scene.ts'

export async function openRememberingScene(options: SceneOptions = {}) {
  const scene = await openWaitingScene(options)
  return {
    scene,
    async sessionOf(user: string | null): Promise<string> {
      return (await scene.call('POST', scene.sessions, { user })).json.id
    },
    /** The model asks for `pay` with these arguments. Tells whether the session waits then. */
    async asksPay(id: string, args: string, headers: Record<string, string> = {}): Promise<boolean> {
      scene.up.next(async (one) => {
        await one.toolCall({ id: 'c1', name: 'pay', arguments: args }, 4096)
        await one.finish('tool_calls')
      })
      scene.says('Done.')
      const { status, text } = await scene.send(id, 'Pay!', {}, headers)
      if (status !== 200) throw new Error(text)
      const { pending } = await scene.session(id)
      scene.up.forget()
      return pending.length > 0
    },
    async decide(id: string, decision: object, headers: Record<string, string> = {}) {
      scene.says('Done.')
      const answer = await scene.decide(id, [decision], {}, headers)
      scene.up.forget()
      return answer
    },
  }
}
