/** Stately's tools read the machine from its source: what they find there is the machine that runs. */
import { readFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { expect, test } from 'vitest'
import { createMachine } from 'xstate'
import { chartOf, sessionChart } from '../../../src/features/traces/chart.ts'

// The extractor reads machines of version 5 too, but takes names of actions from modules that only version 4 has.
registerHooks({
  resolve: (name, context, next) => next(name.replace(/^xstate\/lib\//, 'xstate-4/lib/'), context),
})
const { extractMachinesFromFile } = await import('@xstate/machine-extractor')

/** What says nothing of states and transitions, in the words of version 4. */
const beside = new Set(['actions', 'cond', 'invoke'])

test('the extractor finds the states and transitions that the machine has', async () => {
  const source = await readFile(new URL('../../../src/actors/session/machine.ts', import.meta.url), 'utf8')
  const { machines } = extractMachinesFromFile(source) ?? { machines: [] }
  expect(machines).toHaveLength(1)
  const config = JSON.stringify(machines[0]?.toConfig(), (key, value: unknown) => (beside.has(key) ? undefined : value))
  expect(chartOf(createMachine(JSON.parse(config)))).toEqual(sessionChart())
})
