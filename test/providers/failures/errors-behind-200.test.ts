/** An error behind status 200 is told in its words on every wire, in whatever shape (contract section 25). */
import { describe, expect } from 'vitest'
import type { ModelEvent, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { Upstream, UpstreamCall } from '../../support/network/upstream.ts'
import { cellInTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'
import * as anthropic from '../native/anthropic-server.ts'
import * as gemini from '../native/gemini-server.ts'
import { open } from '../native/native-scene.ts'
import * as responses from '../responses/scene.ts'
import { ask, failureIn, requestTo, scene, textOf } from '../scene.ts'

const words = 'the quota is used up'
const options = { providerRetries: 2, idleTimeoutMs: 60_000 }

interface Opened {
  up: Upstream
  model: Parameters<typeof ask>[0]
  request: () => ModelRequest
}

async function openPlain(request: (up: Upstream) => ModelRequest): Promise<Opened> {
  const { up, model } = await scene(options)
  return { up, model, request: () => request(up) }
}

/** How a wire is opened, and how it answers "Here." with `more` among the fields of each of its chunks. */
const wires: Record<string, { opened: () => Promise<Opened>; says: (more: Record<string, unknown>) => string }> = {
  chat: {
    opened: () => openPlain((up) => requestTo(up)),
    says(more) {
      const event = (chunk: object) => `data: ${JSON.stringify({ ...more, ...chunk })}\n\n`
      const choices = (delta: object, finish_reason: string | null) => ({
        choices: [{ index: 0, delta, finish_reason }],
      })
      const usage = { prompt_tokens: 1, completion_tokens: 1 }
      const chunks = [
        { msg: 'It waits.' },
        choices({ content: 'Here.' }, null),
        choices({}, 'stop'),
        { choices: [], code: 1000, message: 'ok' },
        { choices: [], usage, msg: 'done', code: '1' },
        { usage, message: 'It was counted.', code: 1 },
      ]
      return `${event({ choices: [] })}${chunks.map(event).join('')}data: [DONE]\n\n`
    },
  },
  anthropic: {
    opened: () => open('anthropic', options),
    says(more) {
      const added = JSON.stringify(more).slice(1, -1)
      const told = anthropic.event('something_new') + anthropic.turn({ text: ['Here.'] })
      return added === '' ? told : told.replaceAll('data: {', `data: {${added},`)
    },
  },
  gemini: {
    opened: () => open('gemini', options),
    says: (more) => gemini.parts([{ text: 'Here.' }], { finishReason: 'STOP' }, more),
  },
  responses: {
    opened: () => openPlain((up) => responses.requestFor(up)),
    says(more) {
      const response = { status: 'completed', output: [], usage: responses.usage }
      const events = [
        { type: 'response.created', response: {} },
        { type: 'response.something.new', code: 'print(1)' },
        responses.text('Here.'),
        { type: 'response.completed', response },
      ]
      return events.map((event) => `data: ${JSON.stringify({ ...more, ...event })}\n\n`).join('')
    },
  },
}

/** Shape, and how often it is asked for: three times where its code says that another try may help. */
const shapes: [body: object, asked: 1 | 3][] = [
  [{ code: 500, msg: words }, 3],
  [{ code: 1, msg: words, success: false }, 1],
  [{ error_code: 17, error_msg: words }, 1],
  [{ success: false, msg: words }, 1],
  [{ success: false, code: 0, message: words }, 1],
  [{ success: false, code: 200, message: words }, 1],
  [{ status: 503, msg: words }, 3],
  [{ status: 200, error_code: 17, error_msg: words }, 1],
  [{ error_code: 429, error_msg: words }, 3],
  [{ base_resp: { status_code: 1004, status_msg: words } }, 1],
  [{ id: 'x', choices: null, base_resp: { status_code: 1004, status_msg: words } }, 1],
  [{ errors: { general: words } }, 1],
  [{ errors: { quota: [words] } }, 1],
  [{ error: true, message: words }, 1],
  [{ error: true, message: words, code: 503 }, 3],
  [{ object: 'error', message: words, type: 'BadRequest', param: null, code: 400 }, 1],
  [{ object: 'error', message: words }, 1],
  [{ object: 'error', message: words, type: 'InternalServerError', param: null, code: 500 }, 3],
]
const ofChat: typeof shapes = [
  [{ choices: [], code: 400, message: words }, 1],
  [{ choices: [], code: '500', message: words }, 3],
  [{ choices: [], success: false, code: 17, message: words }, 1],
  [{ usage: { total_tokens: 0 }, message: words }, 1],
  [{ choices: [], base_resp: { status_code: 1008, status_msg: words }, usage: { total_tokens: 0 } }, 1],
]

/** What some servers put beside all that they send. */
const beside: Record<string, unknown>[] = [
  { code: null, msg: '', message: '', error: null, errors: [], detail: null },
  { code: 0, msg: 'success', message: 'ok', error_code: 0, error_msg: '' },
  { code: '200', message: 'The request was served.', status: 'completed' },
  { success: true, message: 'ok', status: 'ok' },
  { code: '00000', message: 'OK' },
  { code: 10000, message: 'Served.' },
  { code: '20000', msg: 'Served.' },
  { base_resp: { status_code: 0, status_msg: 'success' }, errors: {} },
]

/** Each wire reads an error by the same function: in the short tier a shape is told on two of the four. */
const isTold = cellInTier(2)

describe.each(Object.entries(wires))('%s', (name, { opened, says }) => {
  const row = Object.keys(wires).indexOf(name)
  async function answered(play: (call: UpstreamCall) => unknown) {
    const { up, model, request } = await opened()
    up.always(async (call) => {
      await play(call)
      call.end()
    })
    const events: ModelEvent[] = await ask(model, request())
    return { events, asked: up.calls.length }
  }

  const told = shapes.filter((_, column) => isTold(row, column))
  for (const [body, asked] of name === 'chat' ? [...told, ...ofChat] : told) {
    verifies(
      'contract-19.slips',
      `${name}: in its words, as an answer and as an event: ${JSON.stringify(body)}`,
      async () => {
        for (const play of [(call: UpstreamCall) => call.json(body), (call: UpstreamCall) => call.data({ ...body })]) {
          const { events, asked: times } = await answered(play)
          expect(failureIn(events).message).toContain(words)
          expect(times).toBe(asked)
        }
      },
    )
  }

  verifies('contract-19.slips', `${name}: in its words where it is plain text`, async () => {
    // What is no stream at all is often a proxy's, and is tried again.
    for (const [text, asked] of [
      [words, 3],
      [`Error: ${words}\nTry later.\n`, 3],
      [`Error: ${words}`, 3],
      [JSON.stringify(words), 3],
      [`event: error\ndata: ${words}\n\n`, 1],
    ] as const) {
      const { events, asked: times } = await answered((call) => call.raw(text))
      expect(failureIn(events).message).toContain(words)
      expect(times).toBe(asked)
    }
  })

  verifies('contract-19.slips', `${name}: an error without words is one`, async () => {
    for (const [body, asked] of [
      [{ code: 'InternalError', message: '' }, 3],
      [{ code: 17, message: '' }, 1],
      [{ errors: [{ title: 'bad' }] }, 1],
    ] as const) {
      const { events, asked: times } = await answered((call) => call.data({ ...body }))
      expect([failureIn(events).code, times]).toEqual(['provider_error', asked])
      expect(failureIn(events).message).not.toContain('ended early')
    }
  })

  verifies('contract-19.slips', `${name}: a stream that broke off in its first line says nothing`, async () => {
    for (const text of ['dat', 'foo: bar\n', 'event: x\nda', ': hello\n\nda']) {
      const { events, asked } = await answered((call) => call.raw(text))
      expect(failureIn(events).message).toContain('ended early')
      expect(asked).toBe(3)
    }
  })

  verifies('contract-19.slips', `${name}: fields beside what is sent are no error`, async () => {
    for (const more of beside) {
      const { events } = await answered((call) => call.raw(says(more)))
      expect(textOf(events)).toBe('Here.')
      expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
    }
  })
})
