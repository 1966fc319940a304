/**
 * After a full run of a tier: fails unless every rule of that tier was verified by a test that ran and passed. The long
 * tier's own rules are in `test/requirements/long-rules.ts`; all others are the short tier's. A run of some files, or of
 * some tests by name, does not check rules. With RECORD_DURATIONS set, the time of each file is recorded for
 * `longest-first.ts`, and beside it the run's time as a multiple of the machine's pace (`pace.ts`).
 */
import { readFile, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import type { TestCase, TestModule, TestProject } from 'vitest/node'
import { longRules } from '../requirements/long-rules.ts'
import { type RequirementId, requirements } from '../requirements/requirements.ts'
import { measurePace } from './pace.ts'
import { allTestFiles, filesOf, root } from './quick-files.ts'
import { type Tier, tier } from './tier.ts'
import { isOver } from './time-left.ts'

declare module 'vitest' {
  export interface TaskMeta {
    /** The rules that a test verifies. */
    rules?: readonly RequirementId[]
  }
}

export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  const pace = process.env.RECORD_DURATIONS ? await measurePace() : null
  const begin = performance.now()
  return async () => {
    const modules = vitest.state.getTestModules()
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    if (vitest.config.testNamePattern !== undefined || !isWhole(modules, tests)) return
    if (pace !== null) await record(modules, { pace, seconds: (performance.now() - begin) / 1000 })
    if (isOver()) {
      const skipped = tests.filter((test) => test.result().state === 'skipped').length
      console.log(`The time is over: ${skipped} tests were skipped, and rules are not checked.`)
      return
    }
    const missing = unverified(tests, tier)
    if (missing.length === 0) return
    throw new Error(`No test that passed verifies:\n${missing.map((id) => `  ${id}: ${requirements[id]}`).join('\n')}`)
  }
}

function isWhole(modules: readonly TestModule[], tests: readonly TestCase[]): boolean {
  const ran = new Set(modules.map((module) => relative(root, module.moduleId)))
  return filesOf(tier).every((file) => ran.has(file)) && !tests.some((test) => test.options.mode === 'only')
}

export type RanTest = Pick<TestCase, 'result' | 'meta'>

/** Returns the rules of a tier without a passing test. */
export function unverified(tests: readonly RanTest[], tier: Tier): RequirementId[] {
  const passed = tests.filter((test) => test.result().state === 'passed')
  const verified = new Set(passed.flatMap((test) => test.meta().rules ?? []))
  return rulesOf(tier).filter((id) => !verified.has(id))
}

export const rulesOf = (tier: Tier): RequirementId[] =>
  Object.keys(requirements)
    .filter(isRule)
    .filter((id) => longRules.has(id) === (tier === 'long'))

const isRule = (id: string): id is RequirementId => id in requirements

/** Records whole seconds of each file, imports and setup included, longest first; a file of the other tier keeps its record. */
async function record(modules: readonly TestModule[], run: { pace: number; seconds: number }): Promise<void> {
  const known = await read<number>('durations.json')
  const files = new Set(allTestFiles())
  const seconds = new Map(Object.entries(known).filter(([file]) => files.has(file)))
  for (const module of modules) {
    const { collectDuration, setupDuration, duration } = module.diagnostic()
    seconds.set(relative(root, module.moduleId), Math.round((collectDuration + setupDuration + duration) / 1000))
  }
  const sorted = [...seconds].sort(([one, ones], [other, others]) => others - ones || one.localeCompare(other))
  await write('durations.json', Object.fromEntries(sorted))
  const figures = { seconds: Math.round(run.seconds), ratio: Math.round(run.seconds / run.pace) }
  await write('pace.json', { ...(await read<object>('pace.json')), [tier]: figures })
}

const at = (name: string): URL => new URL(name, import.meta.url)
const read = async <Value>(name: string): Promise<Record<string, Value>> => JSON.parse(await readFile(at(name), 'utf8'))
const write = (name: string, value: object): Promise<void> => writeFile(at(name), `${JSON.stringify(value, null, 2)}\n`)
