/** Titles that sessions get. SESSION_TITLES=model: a background job asks the agent's model, once its first reply has ended. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene, type Scene } from '../scene.ts'

const soon = { timeout: WAIT_MS, interval: 20 }
let scene: Scene
afterEach(() => scene.close())

const open = async (settings: Record<string, string> = {}) => {
  scene = await openScene({
    settings: { SESSION_TITLES: 'model', PROVIDER_RETRIES: '0', OWNER_LEASE_MS: '6000', ...settings },
    system: 'Be brief.',
  })
}
const titleOf = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}`)).json.title
const isTitleCall = ({ body }: UpstreamCall): boolean => JSON.stringify(body.messages).includes('a title')
const titleCalls = () => scene.up.calls.filter(isTitleCall)

const says = (text: string) => async (call: UpstreamCall) => {
  await call.text(text)
  await call.finish()
}

/** Replies say "Well."; calls for titles are played by `title`. */
function plays(title: (call: UpstreamCall) => unknown): void {
  scene.up.always((call) => (isTitleCall(call) ? title(call) : says('Well.')(call)))
}
verifies('contract-4.title', 'a first reply that fails gives the title too', async () => {
  scene = await openScene()
  scene.up.always((call) => call.error(400, { error: { message: 'no' } }))
  const id = await scene.newSession()
  expect((await scene.send(id, 'Why did it fail')).status).toBe(500)
  expect((await scene.call('GET', `${scene.sessions}/${id}`)).json.title).toBe('Why did it fail')
})

describe('SESSION_TITLES=model', () => {
  verifies('contract-35.every-call', 'the title counts for the key and the user of the first message', async () => {
    await open()
    const usage = (tokens: number) => async (call: UpstreamCall) => {
      await call.text('Well.')
      await call.finish('stop', { prompt_tokens: tokens, completion_tokens: 1 }, true)
    }
    scene.up.always((call) => usage(isTitleCall(call) ? 99 : 9)(call))
    await scene.call('PUT', scene.agent, { userLimits: { tokensPerDay: 1000 } })
    const made = await scene.call('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'] })
    const { id: session } = (await scene.call('POST', scene.sessions, { user: 'ann' })).json
    const message = { messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { authorization: `Bearer ${made.json.key}` }
    const path = `${scene.sessions}/${session}/chat/completions`
    expect((await scene.call('POST', path, message, headers)).status).toBe(200)
    const ofKey = async () => (await scene.call('GET', `/api/v1/keys/${made.json.id}/use`)).json.tokensToday
    await expect.poll(ofKey, soon).toBe(110)
    const { users } = (await scene.call('GET', `${scene.agent}/users/use?user=ann`)).json
    expect(users).toMatchObject([{ tokensToday: 110 }])
  })

  verifies(
    ['contract-1.title-model', 'contract-25.titles'],
    'the title is derived until the model has made it',
    async () => {
      await open()
      const gate = Promise.withResolvers<void>()
      plays(async (call) => {
        await gate.promise
        await says('"Two quotations compared."\n')(call)
      })
      const id = await scene.newSession()
      expect((await scene.send(id, 'Please compare these')).status).toBe(200)
      await expect.poll(() => titleCalls().length, soon).toBe(1)
      expect(await titleOf(id)).toBe('Please compare these')
      gate.resolve()
      await expect.poll(() => titleOf(id), soon).toBe('Two quotations compared')
      const [call] = titleCalls()
      expect(call?.body).toMatchObject({ model: 'test-model', temperature: 0.2 })
      expect(call?.body.tools).toBeUndefined()
      const asked = JSON.stringify(call?.body.messages)
      expect(asked).toContain('User: Please compare these')
      expect(asked).toContain('Assistant: Well.')
      expect(asked).not.toContain('Be brief.')
      await scene.send(id, 'And now?')
      expect(titleCalls()).toHaveLength(1)
    },
  )

  verifies(
    'contract-25.titles',
    'a title that was derived from a given history is replaced by the model’s',
    async () => {
      await open()
      plays(says('Two quotations compared'))
      const messages = [{ role: 'user', content: 'Compare these' }]
      const { id, title } = (await scene.call('POST', scene.sessions, { messages })).json
      expect(title).toBe('Compare these')
      await scene.send(id, 'And those')
      await expect.poll(() => titleOf(id), soon).toBe('Two quotations compared')
    },
  )

  verifies('contract-17.title-usage', 'what a title costs counts in usage, as no reply', async () => {
    await open()
    scene.up.always(async (call) => {
      await call.text(isTitleCall(call) ? 'A title' : 'Well.')
      const usage = isTitleCall(call)
        ? { prompt_tokens: 100, completion_tokens: 10 }
        : { prompt_tokens: 7, completion_tokens: 3 }
      await call.finish('stop', usage, true)
    })
    const id = await scene.newSession()
    await scene.send(id, 'What does it cost?')
    await expect.poll(() => titleOf(id), soon).toBe('A title')
    const rows = async () => (await scene.call('GET', '/api/v1/usage?groupBy=model')).json.rows
    await expect
      .poll(rows, soon)
      .toMatchObject([
        { key: 'test-model', replies: 1, promptTokens: 107, completionTokens: 13, totalTokens: 120, estimated: false },
      ])
  })

  verifies('contract-17.title-usage', 'an attempt that fails counts what the provider took', async () => {
    await open()
    plays(async (call) => {
      await call.text('Half a title')
      call.end()
    })
    const id = await scene.newSession()
    await scene.send(id, 'What does half of it cost?')
    const titles = () => scene.app.sql`
      select prompt_tokens > 0 as prompt, completion_tokens > 0 as completion, estimated
        from token_usage where replies = 0`
    await expect
      .poll(async () => [...(await titles())], soon)
      .toEqual([{ prompt: true, completion: true, estimated: true }])
  })

  verifies('contract-1.title-model', 'after two failed attempts the derived title stays', async () => {
    await open()
    plays((call) => call.error(500))
    const id = await scene.newSession()
    await scene.send(id, 'Why did it fail')
    await expect.poll(() => titleCalls().length, soon).toBe(1)
    // The second attempt is due later; another message only makes the job look again.
    await expect
      .poll(async () => {
        await scene.app.sql`update sessions set title_due_at = '-infinity' where title_due_at < 'infinity'
                             and title_due_at < clock_timestamp() + interval '40 seconds'`
        await scene.send(id, 'And now?')
        return titleCalls().length
      }, soon)
      .toBe(2)
    await expect
      .poll(async () => {
        const [row] = await scene.app.sql`select title, title_is_draft from sessions where id = ${id}`
        return row
      }, soon)
      .toEqual({ title: 'Why did it fail', title_is_draft: false })
  })

  verifies('contract-1.title-model', 'an empty answer gives the derived title at once', async () => {
    await open()
    plays(says(' \n'))
    const id = await scene.newSession()
    await scene.send(id, 'Say nothing')
    await expect.poll(() => titleCalls().length, soon).toBe(1)
    expect(await titleOf(id)).toBe('Say nothing')
  })

  verifies('contract-1.title-model', 'a title given by the caller is never asked for, nor replaced', async () => {
    await open()
    plays(says('From the model'))
    const given = await scene.newSession('Mine')
    await scene.send(given, 'Hello')
    const gate = Promise.withResolvers<void>()
    plays(async (call) => {
      await gate.promise
      await says('From the model')(call)
    })
    const late = await scene.newSession()
    await scene.send(late, 'Hello')
    await expect.poll(() => titleCalls().length, soon).toBe(1)
    await scene.call('PATCH', `${scene.sessions}/${late}`, { title: 'Meanwhile' })
    const next = await scene.newSession()
    gate.resolve()
    await scene.send(next, 'Hello')
    await expect.poll(() => titleOf(next), soon).toBe('From the model')
    expect([await titleOf(given), await titleOf(late)]).toEqual(['Mine', 'Meanwhile'])
  })

  verifies(
    'contract-1.title-model',
    'a first reply that failed, or whose owner was lost, gets a title too',
    async () => {
      await open()
      scene.up.next((call) => call.error(400))
      plays(says('A lost one'))
      const failed = await scene.newSession()
      await scene.send(failed, 'Fail, please')
      await expect.poll(() => titleOf(failed), soon).toBe('A lost one')

      const [lost, owner] = [await scene.newSession(), randomUUID()]
      await scene.app.sql`insert into instances (id, lease_until) values (${owner}, clock_timestamp())`
      await scene.app.sql`
      select admit_message(${owner}, 1, jsonb_build_object(
        'agent_id', ${scene.agentId}::text, 'session_id', ${lost}::text, 'user_id', gen_random_uuid(),
        'reply_id', gen_random_uuid(), 'model', 'm', 'include_usage', false, 'is_retry', false, 'may_start', true
      ), 'Lost, sadly')`
      await expect.poll(() => titleOf(lost), soon).toBe('A lost one')
      expect(JSON.stringify(titleCalls().at(-1)?.body.messages)).toContain('Lost, sadly')
    },
  )

  verifies('contract-1.title-model', 'a stop in the middle of a title leaves it to the next instance', async () => {
    const database = await freshDatabase()
    await open()
    // An instance of its own database: the scene's provider serves both.
    const settings = { SESSION_TITLES: 'model' }
    const first = await startTestApp({ database, settings })
    const asked = Promise.withResolvers<UpstreamCall>()
    plays((call) => asked.resolve(call))
    const session = await titledBy(first, scene.up.url)
    await asked.promise
    await first.stop()
    expect(await database.sql`select title_attempts as attempts, title from sessions`).toEqual([
      { attempts: 0, title: 'Hello' },
    ])
    // The first one has had the present turn: the test need not wait for the next one.
    await database.sql`update jobs set due_at = clock_timestamp()`
    plays(says('By the second one'))
    await using second = await startTestApp({ database, settings })
    await expect
      .poll(async () => (await second.sql`select title from sessions where id = ${session}`)[0]?.title, soon)
      .toBe('By the second one')
    await second.stop()
    await database.drop()
  })
})

/** A session with a whole first reply and a draft of a title; its id. */
async function titledBy(app: Awaited<ReturnType<typeof startTestApp>>, upstream: string): Promise<string> {
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: upstream })
  const sessions = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const { id } = (await call(sessions, 'POST', {})).json
  await call(`${sessions}/${id}/chat/completions`, 'POST', { messages: [{ role: 'user', content: 'Hello' }] })
  return id
}
