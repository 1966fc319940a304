/** Scenes of sessions that wait: an agent with a tool whose calls need approval, and a server that counts them. */
import { beforeEach } from 'vitest'
import { asks, callsOfTest, openToolScene, says, startToolServer } from '../../../http/tool-scene.ts'

export const call = (name: string, id: string, args = '{}') => ({ name, id, arguments: args })
export const wireCall = (name: string, id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
export const approve = (id: string, args?: object) => ({ call_id: id, decision: 'approve', arguments: args })
export const reject = (id: string, reason?: string) => ({ call_id: id, decision: 'reject', reason })
export const respond = (id: string, output: string) => ({ call_id: id, decision: 'respond', output })
export const weather = {
  type: 'function',
  function: { name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: {} } },
}

export type WaitingScene = Awaited<ReturnType<typeof openWaitingScene>>

/** The tool `pay` needs approval, the tool `look` does not. */
export async function openWaitingScene(options: Parameters<typeof openToolScene>[0] = {}) {
  const scene = await openToolScene(options)
  type Answer = Parameters<typeof startToolServer>[0]
  const usual: Answer = ({ url, body }) => `done ${url.pathname} ${body}`
  let answer = usual
  const tools = await startToolServer((request) => answer(request))
  const inputSchema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] }
  const pay = await scene.createTool({ name: 'pay', method: 'POST', url: `${tools.url}/pay`, inputSchema })
  const look = await scene.createTool({ name: 'look', method: 'POST', url: `${tools.url}/look` })
  const choose = { httpToolIds: [pay, look], approvals: ['pay'] }
  await scene.choose(choose)
  const actions = (sessionId: string) => `${scene.sessions}/${sessionId}/actions`
  return {
    ...scene,
    tools,
    /** How the tools' server answers its next request. */
    answer(once: Answer) {
      answer = (request) => {
        answer = usual
        return once(request)
      }
    },
    choose: (choice: object = {}) => scene.choose({ ...choose, ...choice }),
    /** Decides; the whole answer. */
    decide: (sessionId: string, decisions: object[], extra: object = {}, headers: Record<string, string> = {}) =>
      scene.call('POST', actions(sessionId), { decisions, ...extra }, headers),
    // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
    session: async (id: string): Promise<any> => (await scene.call('GET', `${scene.sessions}/${id}`)).json,
    /** A session with a reply that asks for `pay`, to be decided. */
    async waiting(amount = 5, extra: object = {}): Promise<string> {
      const id = await scene.newSession()
      scene.up.next(asks('Paying. ', call('pay', 'c1', `{"amount":${amount}}`)))
      const { status, text } = await scene.send(id, 'Pay!', extra)
      if (status !== 200) throw new Error(text)
      return id
    },
    says: (text: string) => scene.up.next(says(text)),
    async close() {
      await tools[Symbol.asyncDispose]()
      await scene.close()
    },
  }
}

/** The calls of the model since each test of the file began, which finds tools and scripts as they were. */
export function callsOfWaitingTest(scene: WaitingScene) {
  const calls = callsOfTest(scene)
  beforeEach(async () => {
    scene.tools.requests.length = 0
    scene.up.forget()
    await scene.choose()
  })
  return calls
}
