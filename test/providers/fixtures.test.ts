/** Fixtures (scripts/fixtures/vendor-fixture.ts) played to the adapters: what a vendor answered once is still understood. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { type Fixture, over, questions, record, scrub, type Vendor } from '../../scripts/fixtures/vendor-fixture.ts'
import { ask, connectionTo, failureIn, key, scene, textOf } from './scene.ts'

async function load(vendor: Vendor): Promise<Fixture> {
  return JSON.parse(await readFile(new URL(`fixtures/${vendor}.json`, import.meta.url), 'utf8'))
}

/** Answers as it was recorded, in the recorded order. */
function player({ exchanges }: Fixture): typeof globalThis.fetch {
  const left = [...exchanges]
  return async () => {
    const next = left.shift()
    if (!next) throw new Error('the fixture has ended')
    const { status, contentType, body } = next.response
    return new Response(body, { status, headers: { 'content-type': contentType } })
  }
}

describe.each<Vendor>(['anthropic', 'gemini'])('%s', (vendor) => {
  test('words, a tool call and an error are understood', async () => {
    const fixture = await load(vendor)
    const { model } = await scene({ fetch: over(player(fixture)), providerRetries: 0 })
    const provider = connectionTo(null, vendor)
    const { words, tool, error } = questions(fixture.model)
    const said = await ask(model, { ...words, provider })
    expect(textOf(said)).toMatch(/Paris/)
    expect(said.at(-1)).toMatchObject({
      type: 'end',
      reason: 'stop',
      usage: { promptTokens: expect.any(Number), completionTokens: expect.any(Number) },
    })
    const called = await ask(model, { ...tool, provider })
    const call = called.find((event) => event.type === 'tool_call')?.call
    expect([call?.name, JSON.parse(call?.arguments ?? '')]).toEqual([
      'get_weather',
      { city: expect.stringMatching(/Paris/) },
    ])
    expect(called.at(-1)).toMatchObject({ type: 'end', reason: 'tool_calls' })
    expect(failureIn(await ask(model, { ...error, provider }))).toMatchObject({
      code: 'provider_error',
      message: expect.stringMatching(/answered 404: .*no-such-model/),
    })
  })

  test('the vendor is still asked what it was asked then, and the fixture holds no key', async () => {
    const fixture = await load(vendor)
    const again = await record(vendor, fixture.model, key, player(fixture))
    expect(again).toEqual(fixture.exchanges)
  })
})

test('keys, ids and signatures are scrubbed', () => {
  const body = `{"id":"toolu_01AbC","request_id":"req_9","signature":"Eq9","thoughtSignature":"Ab+/","t":"${key}","o":"AIzaSyA1234567890"}`
  expect(scrub(body, key)).toBe(
    '{"id":"toolu_scrubbed","request_id":"req_scrubbed","signature":"c2NydWJiZWQ=","thoughtSignature":"c2NydWJiZWQ=","t":"[removed]","o":"[removed]"}',
  )
})
