/**
 * Long files start first, so that none of them is left alone at the end. A fresh clone knows no durations:
 * `durations.json` is recorded by `npm run test:durations`, on a whole run.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import durations from './durations.json' with { type: 'json' }
import { root } from './quick-files.ts'

/** Seconds. A file that is not recorded is new: it may be long. */
const UNKNOWN_S = 10

const recorded = new Map<string, number>(Object.entries(durations))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = ({ moduleId }: TestSpecification) => recorded.get(relative(root, moduleId)) ?? UNKNOWN_S
    return [...files].sort((one, other) => seconds(other) - seconds(one))
  }
}
