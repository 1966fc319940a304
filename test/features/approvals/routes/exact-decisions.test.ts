/** What was shown to the person who decides is what the tool gets (contract section 35). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'
import { approve, call, openWaitingScene } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)

async function waiting(args: string): Promise<string> {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', args)))
  await scene.send(id, 'Pay!')
  return id
}

const amount = (digits: string) => ({ amount: JSON.rawJSON(digits) })

verifies(
  'contract-35.digits',
  'an approved call, as it stands, with changed arguments, and with equal ones',
  async () => {
    const written = '{"amount":1917043659912705297}'
    const decisions: [object, string][] = [
      [approve('c1'), written],
      [approve('c1', amount('1917043659912705297')), written],
      [approve('c1', amount('1917043659912705299')), '{"amount":1917043659912705299}'],
      [approve('c1', { amount: 1917043659912705300 }), '{"amount":1917043659912705300}'],
    ]
    for (const [decision, made] of decisions) {
      const id = await waiting(written)
      expect((await scene.session(id)).pending).toMatchObject([{ arguments: written }])
      scene.says('Paid.')
      expect((await scene.decide(id, [decision])).status).toBe(200)
      expect(scene.tools.requests.at(-1)?.body).toBe(made)
    }
  },
)

verifies('contract-35.digits', '1 in the place of 1.0 is no change', async () => {
  const id = await waiting('{"amount":10.0}')
  scene.says('Paid.')
  const { json } = await scene.decide(id, [approve('c1', { amount: 10 })])
  expect(json.choices[0].message.content).toBe('Paid.')
  expect(scene.tools.requests.at(-1)?.body).toBe('{"amount":10.0}')
})
