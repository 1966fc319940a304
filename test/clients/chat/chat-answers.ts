/** What works: answers, streams, tools, aborts. */
import { expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import type { Told } from '../driver.ts'
import { ask, type Play } from '../play.ts'

const usage = { input: 7, output: 2 }
const whole = { text: 'Hello', finish: 'stop', usage, toolCalls: 0, error: null }

export function answers(play: Play): void {
  const { kind, scene, driver, record } = play
  const baseUrl = () => scene().baseUrl(kind)

  verifies('spec-2.11.completion', 'a whole answer has text, finish reason and usage', async () => {
    scene().says('Hel', 'lo')
    expect(await driver.whole(ask(await baseUrl(), 'hi'))).toEqual(whole)
    record('whole', 'yes')
  })

  verifies('spec-6.1.order', 'a stream comes piece by piece: the second is said once the first was seen', async () => {
    const { promise: seen, resolve: see } = Promise.withResolvers<void>()
    scene().up.next(async (call) => {
      await call.text('Hel')
      await seen
      await call.text('lo')
      await call.finish()
    })
    const pieces: string[] = []
    const text = (piece: string) => {
      pieces.push(piece)
      see()
    }
    const told = await driver.stream(ask(await baseUrl(), 'hi'), { text })
    expect([pieces, told.text, told.finish, told.error]).toEqual([['Hel', 'lo'], 'Hello', 'stop', null])
    record('stream', 'yes')
  })

  verifies('contract-3.usage-chunk', 'a stream has its usage', async () => {
    scene().says('Hel', 'lo')
    expect(await driver.stream(ask(await baseUrl(), 'hi', { usage: true }))).toEqual(whole)
    record('usage', driver.usageBy)
  })

  if (driver.helperName === null) record('helper', '–')
  else
    verifies('contract-3.usage-chunk', 'the stream that the client puts together is whole', async () => {
      scene().says('Hel', 'lo')
      expect(await driver.helper(ask(await baseUrl(), 'hi', { usage: true }))).toEqual(whole)
      record('helper', `${driver.helperName}`)
    })

  verifies('contract-3.request', 'text parts arrive joined', async () => {
    const called = scene().up.calls.length
    scene().says('ok')
    const parts = ['Hel', 'lo'].map((text) => ({ type: 'text' as const, text }))
    const told = await driver.whole(ask(await baseUrl(), '', { messages: [{ role: 'user', content: parts }] }))
    expect(told).toMatchObject({ text: 'ok', error: null })
    expect(scene().up.calls[called]?.body.messages).toEqual([{ role: 'user', content: 'Hello' }])
    record('parts', 'yes')
  })

  structured(play)
  tools(play)
  loops(play)
  turns(play)
  aborts(play)
}

const place = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

function structured({ kind, scene, driver, record }: Play): void {
  const { structured, structuredBy = '' } = driver
  if (structured === undefined) record('structured', '–')
  else
    verifies('contract-13.structured', 'a JSON Schema reaches the model, and the caller gets the object', async () => {
      const called = scene().up.calls.length
      scene().says('{"city":', '"Rome"}')
      const told = await structured(ask(await scene().baseUrl(kind), 'Where?'), place)
      expect([told.error, JSON.parse(told.text)]).toEqual([null, { city: 'Rome' }])
      const format = scene().up.calls[called]?.body.response_format
      expect(format).toMatchObject({ type: 'json_schema', json_schema: { schema: { properties: place.properties } } })
      record('structured', structuredBy)
    })
}

function tools({ kind, scene, driver, record }: Play): void {
  verifies('contract-3.finish-reason', 'the agent’s tools run on the server: the client gets text alone', async () => {
    const { app, up } = scene()
    const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
    const path = { params: { path: { agent_id: agentId } }, body: { builtInToolIds: ['current_time'] } }
    expect((await app.client.PUT('/api/v1/agents/{agent_id}/tools', path)).response.status).toBe(200)
    const called = up.calls.length
    up.next(async (call) => {
      await call.text('Let me look. ')
      await call.toolCall({ name: 'current_time', arguments: '{}' })
      await call.finish('tool_calls')
    })
    scene().says('It is late.')
    const told = await driver.stream(ask(await scene().baseUrl(kind, agentId), 'What time is it?'))
    expect(told).toMatchObject({ text: 'Let me look. It is late.', finish: 'stop', toolCalls: 0, error: null })
    expect(up.calls[called + 1]?.body.messages.at(-1)).toMatchObject({ role: 'tool' })
    record('agentTools', 'run on the server; only text is seen')
  })

  verifies('contract-15.caller-tools', 'a tool that the caller brings is offered to the model', async () => {
    const called = scene().up.calls.length
    scene().says('ok')
    const told = await driver.whole(ask(await scene().baseUrl(kind), 'hi', { tools: true }))
    expect(told).toMatchObject({ text: 'ok', toolCalls: 0, error: null })
    expect(scene().up.calls[called]?.body.tools).toHaveLength(1)
    record('ownTools', 'offered to the model')
  })
}

/** The client goes on by itself: it makes the call that a reply ends with, and sends the result. */
export function loops({ kind, scene, driver, record }: Play): void {
  const { loop, loopBy = '' } = driver
  if (loop === undefined) return
  verifies(
    'contract-15.official',
    'the client makes the calls of its own tools, until there is an answer',
    async () => {
      const { up } = scene()
      const called = up.calls.length
      for (const word of ['sun', 'rain']) {
        up.next(async (call) => {
          await call.toolCall({ name: 'lookup', arguments: JSON.stringify({ word }), id: `call-${word}` })
          await call.finish('tool_calls')
        })
      }
      scene().says('Both ', 'known.')
      const words: string[] = []
      const told = await loop(ask(await scene().baseUrl(kind), 'Look up sun and rain!'), (word) => {
        words.push(word)
        return `${word} is weather`
      })
      expect(told).toMatchObject({ text: 'Both known.', error: null })
      expect(words).toEqual(['sun', 'rain'])
      const results = up.calls.slice(called).map(({ body }) => body.messages.filter(isResult).map(contentOf))
      expect(results).toEqual([[], ['sun is weather'], ['sun is weather', 'rain is weather']])
      record('loop', loopBy)
    },
  )
}

const isResult = ({ role }: { role: string }) => role === 'tool'
const contentOf = ({ content }: { content: unknown }) => content

function turns({ kind, scene, driver, record }: Play): void {
  const talk = [
    { role: 'user' as const, content: 'one' },
    { role: 'assistant' as const, content: 'first' },
    { role: 'user' as const, content: 'two' },
  ]
  if (kind === 'stateless')
    verifies('spec-4.11.stateless', 'the whole history that is sent reaches the model', async () => {
      const called = scene().up.calls.length
      scene().says('second')
      const told = await driver.whole(ask(await scene().baseUrl(kind), '', { messages: talk }))
      expect(told).toMatchObject({ text: 'second', error: null })
      expect(scene().up.calls[called]?.body.messages).toEqual(talk)
      record('turns', 'the caller sends them')
    })
  else
    verifies('spec-4.12.stateful', 'only the newest message is taken: the server has the others', async () => {
      const called = scene().up.calls.length
      const session = await scene().baseUrl(kind)
      for (const word of ['first', 'second']) scene().says(word)
      await driver.stream(ask(session, 'one'))
      const messages = [{ role: 'user' as const, content: 'made up' }, ...talk.slice(1)]
      expect(await driver.stream(ask(session, '', { messages }))).toMatchObject({ text: 'second', error: null })
      expect(scene().up.calls[called + 1]?.body.messages).toEqual(talk)
      record('turns', 'the server has them; only the newest message counts')
    })
}

function aborts({ kind, scene, driver, record }: Play): void {
  /** The client leaves after the first piece; `goOn` lets the model say the rest. */
  async function leave(session: string) {
    const { promise: rest, resolve: goOn } = Promise.withResolvers<void>()
    const number = scene().up.calls.length + 1
    scene().up.next(async (call) => {
      await call.text('Hel')
      await Promise.race([rest, call.closed])
      await call.text('lo')
      await call.finish()
    })
    const leaving = new AbortController()
    const watch = { text: () => leaving.abort(), signal: leaving.signal }
    const answer = driver.stream(ask(session, 'hi'), watch)
    return { call: await scene().up.call(number), answer, goOn }
  }

  const how = (told: Told) =>
    told.error === null ? 'the loop ends' : `${told.error.name.includes('`') ? '' : 'throws '}${shown(told.error.name)}`

  if (kind === 'stateless')
    verifies('contract-3.stateless-disconnect', 'an aborted stream stops the model', async () => {
      const { call, answer, goOn } = await leave(await scene().baseUrl(kind))
      // A client that does not close its connection has no way to stop the model.
      if (!driver.aborts) goOn()
      const told = await answer
      await call.closed
      expect([call.abandoned, told.text]).toEqual([driver.aborts, 'Hel'])
      record('abort', driver.aborts ? `${how(told)}, the model is stopped` : 'cannot: the model goes on')
    })
  else
    verifies('spec-4.12.stateful', 'an aborted stream leaves the reply running: it is stored whole', async () => {
      const session = await scene().baseUrl(kind)
      const { call, answer, goOn } = await leave(session)
      const told = await answer
      goOn()
      await call.closed
      const { stored } = scene()
      await expect.poll(() => stored(session)).toMatchObject([{}, { content: 'Hello', status: 'complete' }])
      expect([call.abandoned, told.text]).toEqual([false, 'Hel'])
      record('abort', `${how(told)}, the reply goes on`)
    })
}

const shown = (name: string) => (name.includes('`') ? name : `\`${name}\``)
