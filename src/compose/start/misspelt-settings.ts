/** Environment variables that look like a setting of ours, but are none: a misspelt setting would be ignored without a word. */
import { closestName } from '../../untrusted/closest-name.ts'

/** More letters than these are another program's variable. */
const MOST_WRONG_LETTERS = 2

/** Returns a line for each misspelt setting. Names of settings are upper case and have at least four letters. */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>, names: string[]): string[] {
  const known = new Set(names)
  return Object.keys(environment).flatMap((given) => {
    if (known.has(given) || !/^[A-Z][A-Z0-9_]{4,}$/.test(given)) return []
    const meant = closestName(given, names, MOST_WRONG_LETTERS)
    return meant === null ? [] : [`${given} is no setting and is ignored. ${meant} was probably meant.`]
  })
}
