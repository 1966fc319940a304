/** OpenAI's two APIs, call by call and field by field, through the official client (contract section 32). */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openResponsesScene } from './responses-scene.ts'
import { callSteps } from './surface/calls.ts'
import { fieldSteps } from './surface/fields.ts'
import { itemSteps } from './surface/items.ts'
import { kitOf, type Step } from './surface/kit.ts'
import { missingIn } from './surface/official.ts'
import { toolSteps } from './surface/tools.ts'

const scene = await openResponsesScene()
afterAll(scene.close)
beforeEach(() => scene.up.forget())

const kit = kitOf(scene)
const steps = [...fieldSteps(kit), ...itemSteps(kit), ...toolSteps(kit), ...callSteps(kit)]
for (const { call, field, run } of steps) {
  verifies('contract-32.surface', `${call} ${field}`, async () => {
    scene.says(['ok'])
    await run()
  })
}

verifies('contract-32.surface', 'each call, field and type of the official client is among them', () => {
  expect(missingIn(steps)).toEqual([])
})

const cell = (text: string) => (text === '' ? '–' : text.replaceAll('|', '\\|'))
const nameOf = ({ field }: Step) => cell(/^[a-z_.]+(?:, [a-z_]+)*$/.test(field) ? `\`${field}\`` : field)

/** Returns the rows of the table: steps of a call that come to the same share one. */
function rowsOf(all: readonly Step[]): string {
  const groups = Map.groupBy(all, ({ call, outcome, words }) => JSON.stringify([call, outcome, words]))
  const rows = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { call, outcome, words } = first
    return [`| \`${call}\` | ${group.map(nameOf).join(', ')} | ${outcome} | ${cell(words)} |`]
  })
  return rows.join('\n')
}

const head = `<!-- Written by test/http/wires/responses/openai-surface.long.test.ts (vitest run -u). Do not edit. -->

# Calls and fields of OpenAI's Responses and Conversations

Each field is a step of a test through the official client. *Ignored*: the field is accepted and not used, and the header
\`x-greenroom-ignored\` names it. *Refused*: the error names it; the last column says what to use instead.

| Call | Field or case | Here | |
|---|---|---|---|
`

test('the table tells what was seen', async () => {
  await expect(`${head}${rowsOf(steps)}\n`).toMatchFileSnapshot('../../../../docs/responses-fields.md')
})
