/**
 * Starts long files first, so that none of them runs alone at the end. `durations.json` is committed, and recorded by
 * `npm run test:durations` on a full run.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import durations from './durations.json' with { type: 'json' }
import { root } from './quick-files.ts'

/** Seconds, for a file without a record: it is new and may be long. */
const UNKNOWN_S = 10

const recorded = new Map<string, number>(Object.entries(durations))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => recorded.get(relative(root, moduleId)) ?? UNKNOWN_S
    return [...files].sort((one, other) => seconds(other) - seconds(one))
  }
}
