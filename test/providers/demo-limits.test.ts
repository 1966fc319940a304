/** Contract section 25: the demo keeps to the limits of a request. */
import { expect } from 'vitest'
import type { AnswerFields, ModelEvent } from '../../src/actors/ports/index.ts'
import { withinLimits } from '../../src/providers/demo-limits.ts'
import { call } from '../http/scene.ts'
import { createAgent, sharedApp } from '../support/app.ts'
import { verifies } from '../verifies.ts'

async function* words(text: string): AsyncGenerator<ModelEvent> {
  for (const [word] of text.matchAll(/\S+\s*/g)) yield { type: 'text', text: word }
  yield { type: 'end', reason: 'stop', usage: null }
}

async function limited(text: string, fields: Pick<AnswerFields, 'maxTokens' | 'stop'>) {
  let said = ''
  let reason = ''
  for await (const event of withinLimits(words(text), fields)) {
    if (event.type === 'text') said += event.text
    if (event.type === 'end') reason = event.reason
  }
  return [said, reason]
}

const max = (value: number) => ({ maxTokens: { name: 'max_tokens' as const, value } })

verifies('contract-25.demo', 'a maximum cuts at a word, a stop sequence before it, wherever words end', async () => {
  expect(await limited('one two three', max(2))).toEqual(['one two ', 'length'])
  expect(await limited('one two three', max(3))).toEqual(['one two three', 'stop'])
  expect(await limited('one two three', { stop: ['wo'] })).toEqual(['one t', 'stop'])
  expect(await limited('one two three', { stop: ['e two t', 'zzz'] })).toEqual(['on', 'stop'])
  expect(await limited('one two three', { stop: ['three!'] })).toEqual(['one two three', 'stop'])
  expect(await limited('one two three', { stop: ['three!'], ...max(2) })).toEqual(['one two ', 'length'])
})

verifies('contract-25.demo', 'requests bring them under either name; a picture is told of', async () => {
  await using app = await sharedApp()
  const { agentId } = await createAgent(app, { type: 'demo' })
  const ask = async (content: unknown, more: object = {}) => {
    const path = `${app.url}/api/v1/agents/${agentId}/deploy/chat/completions`
    const { status, json } = await call(path, 'POST', { messages: [{ role: 'user', content }], ...more })
    return [status, json.choices?.[0]?.message.content, json.choices?.[0]?.finish_reason]
  }
  expect(await ask('/long 9', { max_tokens: 3 })).toEqual([200, '1 2 3 ', 'length'])
  expect(await ask('/long 9', { max_completion_tokens: 2, max_tokens: 5 })).toEqual([200, '1 2 ', 'length'])
  expect(await ask('/long 9', { stop: '5' })).toEqual([200, '1 2 3 4 ', 'stop'])
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const parts = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
  ]
  expect(await ask(parts)).toEqual([200, expect.stringContaining('image/png'), 'stop'])
})
