/**
 * Environment variables that look like a setting of ours, but are none: a misspelt setting would be ignored without a
 * word.
 */
import { closestName } from '../../untrusted/closest-name.ts'

/** More letters than these are another program's variable. */
const MOST_WRONG_LETTERS = 2

/** Settings of earlier versions, and what has taken their place. */
const retired: Readonly<Record<string, string>> = {
  MCP_ANSWER_DEFAULTS: 'what an MCP server asks is shown to the user.',
}

/** Settings that count only beside another one. */
const needs: Readonly<Record<string, string>> = { CACHE_URL: 'CACHE_PROVIDER' }

/**
 * Returns a line for each misspelt setting, and for each that is no longer read. Names of settings are upper case and
 * have at least four letters.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>, names: string[]): string[] {
  const known = new Set(names)
  return Object.keys(environment).flatMap((given) => {
    const other = needs[given]
    if (other !== undefined && !environment[other]?.trim()) return [`${given} has no effect: ${other} is not set.`]
    const why = retired[given]
    if (why !== undefined) return [`${given} is no longer read: ${why}`]
    if (known.has(given) || !/^[A-Z][A-Z0-9_]{4,}$/.test(given)) return []
    const meant = closestName(given, names, MOST_WRONG_LETTERS)
    return meant === null ? [] : [`${given} is no setting and is ignored. ${meant} was probably meant.`]
  })
}
