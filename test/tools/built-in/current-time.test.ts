/** `current_time` (contract section 6). */
import { expect, test } from 'vitest'
import { builtInTools } from '../../../src/tools/built-in/built-in-tools.ts'
import { currentTime, timeIn } from '../../../src/tools/built-in/current-time.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { verifies } from '../../verifies.ts'

const world = {
  outbound: createOutbound({ policy: 'standard', allow: [] }),
  signal: new AbortController().signal,
  of: '',
}

test.each([
  ['UTC', '2026-03-29T00:59:59Z', '2026-03-29T00:59:59+00:00 (Sunday, UTC)'],
  ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59+01:00 (Sunday, Europe/Berlin)'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00+02:00 (Sunday, Europe/Berlin)'],
  ['Asia/Kathmandu', '2026-12-31T18:15:00Z', '2027-01-01T00:00:00+05:45 (Friday, Asia/Kathmandu)'],
  ['America/St_Johns', '2026-01-01T03:29:00Z', '2025-12-31T23:59:00-03:30 (Wednesday, America/St_Johns)'],
])('contract section 6: in %s, %s is %s', (zone, now, expected) => {
  expect(timeIn(zone, new Date(now))).toBe(expected)
})

verifies('contract-6.current-time', 'the current time, in UTC or in the requested time zone', async () => {
  const before = Math.floor(Date.now() / 1000)
  for (const args of [{}, { timeZone: 'Asia/Tokyo' }]) {
    const { ok, content } = await currentTime.call(args, world)
    expect(ok).toBe(true)
    const reported = Date.parse(content.split(' ')[0] ?? '') / 1000
    expect(reported).toBeGreaterThanOrEqual(before)
    expect(reported).toBeLessThanOrEqual(Date.now() / 1000)
    expect(content).toContain(args.timeZone ?? 'UTC')
  }
  for (const timeZone of ['Mars/Olympus', 7, {}]) {
    expect(await currentTime.call({ timeZone }, world)).toMatchObject({ ok: false })
  }
})

test('specification 2.4: the built-in tools are these two', () => {
  expect(builtInTools.map(({ id, name }) => [id, name])).toEqual([
    ['web_fetch', 'web_fetch'],
    ['current_time', 'current_time'],
  ])
  for (const { inputSchema, description } of builtInTools) {
    expect(inputSchema.type).toBe('object')
    expect(description).not.toBe('')
  }
})

verifies('contract-35.time-zones', 'zones as models write them', async () => {
  const zones: [unknown, string][] = [
    [undefined, 'UTC'],
    [null, 'UTC'],
    ['', 'UTC'],
    [' ', 'UTC'],
    ['utc', 'UTC'],
    ['GMT', 'UTC'],
    ['Z', 'UTC'],
    ['+02:00', '+02:00'],
    ['-0530', '-05:30'],
    ['UTC+2', '+02:00'],
    ['UTC+02:00', '+02:00'],
    ['GMT-5', '-05:00'],
    ['gmt +5:45', '+05:45'],
    ['UTC\u22123', '-03:00'],
    ['europe/berlin', 'europe/berlin'],
  ]
  for (const [timeZone, shown] of zones) {
    const { ok, content } = await currentTime.call({ timeZone }, world)
    expect([ok, content]).toEqual([true, expect.stringMatching(/^\d{4}-.*[+-]\d\d:\d\d \(\w+day, [^)]+\)$/)])
    expect(content).toContain(`, ${shown})`)
    if (/^[+-]/.test(shown)) expect(content).toContain(`${shown} (`)
  }
  const forms = 'timeZone takes an IANA name such as Europe/Berlin, or an offset such as +02:00.'
  for (const timeZone of ['Berlin', 'UTC+30', '+2:99', 7]) {
    const content = `There is no time zone ${JSON.stringify(timeZone)}: ${forms}`
    expect(await currentTime.call({ timeZone }, world)).toEqual({ ok: false, content })
  }
  expect(await currentTime.call({ timezone: 'Europe/Berlin' }, world)).toEqual({
    ok: false,
    content: `There is no argument "timezone": ${forms}`,
  })
})
