/**
 * After a full run: fails unless every rule in `test/requirements/requirements.ts` was verified by a test that ran and passed. A run of
 * some files, or of some tests by name, does not check rules. With RECORD_DURATIONS set, the time of each file is
 * recorded for `longest-first.ts`.
 */
import { writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import type { TestCase, TestModule, TestProject } from 'vitest/node'
import { type RequirementId, requirements } from '../requirements/requirements.ts'
import { allTestFiles, root } from './quick-files.ts'

declare module 'vitest' {
  export interface TaskMeta {
    /** The rules that a test verifies. */
    rules?: readonly RequirementId[]
  }
}

export default function setup({ vitest }: TestProject): () => Promise<void> {
  return async () => {
    const modules = vitest.state.getTestModules()
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    if (vitest.config.testNamePattern !== undefined || !isWhole(modules, tests)) return
    if (process.env.RECORD_DURATIONS) await recordDurations(modules)
    const missing = unverified(tests)
    if (missing.length === 0) return
    throw new Error(`No test that passed verifies:\n${missing.map((id) => `  ${id}: ${requirements[id]}`).join('\n')}`)
  }
}

function isWhole(modules: readonly TestModule[], tests: readonly TestCase[]): boolean {
  const ran = new Set(modules.map((module) => relative(root, module.moduleId)))
  return allTestFiles().every((file) => ran.has(file)) && !tests.some((test) => test.options.mode === 'only')
}

export type RanTest = Pick<TestCase, 'result' | 'meta'>

/** Returns the rules without a passing test. */
export function unverified(tests: readonly RanTest[]): RequirementId[] {
  const passed = tests.filter((test) => test.result().state === 'passed')
  const verified = new Set(passed.flatMap((test) => test.meta().rules ?? []))
  return Object.keys(requirements).filter((id): id is RequirementId => !verified.has(id as RequirementId))
}

/** Records the whole seconds of each file, imports and setup included; longest first. */
async function recordDurations(modules: readonly TestModule[]): Promise<void> {
  const seconds = modules.map((module): [string, number] => {
    const { collectDuration, setupDuration, duration } = module.diagnostic()
    return [relative(root, module.moduleId), Math.round((collectDuration + setupDuration + duration) / 1000)]
  })
  seconds.sort(([file, one], [otherFile, other]) => other - one || file.localeCompare(otherFile))
  const text = JSON.stringify(Object.fromEntries(seconds), null, 2)
  await writeFile(new URL('durations.json', import.meta.url), `${text}\n`)
}
