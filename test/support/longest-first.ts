/**
 * Starts long files first, so that none of them runs alone at the end. Files that use a browser need the processor, all
 * others mostly wait: both kinds are spread over the whole run in proportion. A process serves files of one project and
 * ends when the next file is another's, so projects run one after the other. `durations.json` is committed, and recorded
 * by `npm run test:durations` on a full run.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import durations from './durations.json' with { type: 'json' }
import { root } from './quick-files.ts'

const projects = ['alone', 'real', 'quick']

/** Seconds, for a file without a record: it is new and may be long. */
const UNKNOWN_S = 10

const recorded = new Map<string, number>(Object.entries(durations))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ofProject = Map.groupBy(files, ({ project }) => project.name)
    return projects.flatMap((name) => spread(ofProject.get(name) ?? [], ({ moduleId }) => relative(root, moduleId)))
  }
}

/** Returns each kind longest first; a file's place is the share of its kind's time that comes before it. */
export function spread<File>(files: readonly File[], pathOf: (file: File) => string): File[] {
  const secondsOf = (file: File) => recorded.get(pathOf(file)) ?? UNKNOWN_S
  const kinds = Map.groupBy(files, (file) => pathOf(file).startsWith('test/ui/'))
  const placed = [...kinds.values()].flatMap((kind) => {
    const whole = kind.reduce((sum, file) => sum + secondsOf(file), 0) || 1
    let before = 0
    return kind
      .toSorted((one, other) => secondsOf(other) - secondsOf(one))
      .map((file) => {
        const place = before / whole
        before += secondsOf(file)
        return { file, place }
      })
  })
  return placed.sort((one, other) => one.place - other.place).map(({ file }) => file)
}
