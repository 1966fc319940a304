/** kill -9 within a compaction leaves nothing, and holds nothing (contract section 19). */
import { expect } from 'vitest'
import { startUpstream } from '../support/network/upstream.ts'
import { addAgent, dataFolder, messagesOf, newSession, postJson, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

const say = (content: string) => ({ messages: [{ role: 'user', content }] })

verifies(
  ['contract-19.compact', 'contract-19.compaction-stops'],
  'after a kill there is no checkpoint, and the session answers and is compacted again',
  async () => {
    await using up = await startUpstream()
    const answers = (text: string) =>
      up.always(async (call) => {
        await call.text(text)
        await call.finish()
      })
    answers('Fine.')
    await using folder = await dataFolder()
    const options = { dataDir: folder.path, direct: true }
    let session = ''
    {
      await using product = await startProduct(options)
      session = await newSession(product.url, await addAgent(product, up.url))
      for (const text of ['one', 'two']) {
        expect((await postJson(`${product.url}${session}/chat/completions`, say(text))).status).toBe(200)
      }
      up.always((call) => call.text('They cou'))
      const compacting = postJson(`${product.url}${session}/compact`, {}).catch(() => null)
      const summary = await up.call(3)
      await product.kill9()
      await summary.closed
      await compacting
    }
    await using heir = await startProduct(options)
    const before = await messagesOf(heir.url, session)
    expect(before.map(({ content }) => content)).toEqual(['one', 'Fine.', 'two', 'Fine.'])
    const checkpoints = async () => (await fetch(`${heir.url}${session}/checkpoints`)).json()
    expect(await checkpoints()).toEqual({ checkpoints: [] })
    answers('They counted.')
    expect((await postJson(`${heir.url}${session}/chat/completions`, say('three'))).status).toBe(200)
    expect((await postJson(`${heir.url}${session}/compact`, {})).status).toBe(200)
    expect(await checkpoints()).toMatchObject({ checkpoints: [{ summary: 'They counted.' }] })
  },
)
