/** Identifies the measured source. A figure that cannot be reproduced from a commit is not recorded. */
import { execFileSync } from 'node:child_process'

/** Files that a run itself writes: recording one case must not prevent the next run from recording. */
const written = [':!bench/RESULTS.jsonl', ':!bench/RESULTS.md', ':!bench/guard.json']

function git(checkout: string, ...args: string[]): string {
  return execFileSync('git', ['-C', checkout, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

/** Returns the short hash, with `+` if the tree has changes (untracked files count); `unknown` outside git. */
export function commitOf(checkout: string): string {
  try {
    const isClean = git(checkout, 'status', '--porcelain', '--', ':/', ...written) === ''
    return `${git(checkout, 'rev-parse', '--short', 'HEAD')}${isClean ? '' : '+'}`
  } catch {
    return 'unknown'
  }
}

export const isRecordable = (commit: string): boolean => /^[0-9a-f]+$/.test(commit)
