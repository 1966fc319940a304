/** The report: a table that grows on a terminal, otherwise one line a check, and the last line. */
import type { Check, Level, Outcome, Result } from './types.ts'

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
}

export interface Report {
  begin(check: Check): void
  end(outcome: Outcome): void
}

const colors: Record<Result, string> = { pass: '32', fail: '31', 'not offered': '33', error: '35' }

export function createReport(output: Output, width: number): Report {
  const isTerminal = output.isTTY === true
  const shown = (result: Result) => {
    const padded = result.padEnd(11)
    return isTerminal ? `\x1b[${colors[result]}m${padded}\x1b[0m` : padded
  }
  return {
    begin({ id, rule }) {
      if (isTerminal) output.write(`  ${'…'.padEnd(11)}  ${id.padEnd(width)}  ${rule}`.slice(0, 100))
    },
    end({ id, result, ms, message }) {
      if (isTerminal) output.write('\r\x1b[2K')
      output.write(`  ${shown(result)}  ${id.padEnd(width)}  ${`${(ms / 1000).toFixed(1)} s`.padStart(7)}\n`)
      if (message !== null && result !== 'not offered') output.write(`               ${message}\n`)
    },
  }
}

/** Returns the last line. */
export function lastLine(outcomes: readonly Outcome[], level: Level): string {
  const count = (result: Result) => outcomes.filter((outcome) => outcome.result === result).length
  return `${count('pass')} passed, ${count('fail')} failed, ${count('not offered')} not offered, ${count('error')} errors (level ${level})`
}

/** Returns whether nothing failed and everything could be run. */
export const isGood = (outcomes: readonly Outcome[]): boolean =>
  outcomes.every(({ result }) => result !== 'fail' && result !== 'error')
