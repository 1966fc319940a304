/** A version as texts that can be compared line by line. Pure. */
import type { components } from '../../../openapi/generated/schema.ts'
import { writeExact } from '../../../src/untrusted/exact-json.ts'

type AgentVersionDetail = components['schemas']['AgentVersionDetail']

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** Returns the words of a field's name: `generationConfig` → `Generation config`. */
const wordsOfName = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Returns what the version holds, by the words of its fields. `names`: of the records that it names by id. A prompt is
 * its text, wherever the text is kept.
 */
export function heldTexts(version: AgentVersionDetail, names: ReadonlyMap<string, string>): Map<string, string> {
  const { providerId, promptId: _, systemPrompt, ...settings } = version.agent
  const textOf = (value: unknown): string => {
    if (value === null || value === undefined) return ''
    const text = typeof value === 'string' ? value : writeExact(value, 2)
    return text.replaceAll(uuid, (id) => names.get(id) ?? id)
  }
  return new Map([
    ['Prompt', version.prompt?.name ?? ''],
    ['Prompt text', version.prompt?.content ?? systemPrompt ?? ''],
    ['Provider', textOf(providerId)],
    ...Object.entries({ ...settings, ...version.tools }).map(([name, value]): [string, string] => [
      wordsOfName(name.replace(/Ids$/, 's')),
      textOf(value),
    ]),
  ])
}

export interface FieldDifference {
  name: string
  from: string
  to: string
}

/** Returns the fields in which two versions differ. */
export function differencesOf(
  from: AgentVersionDetail,
  to: AgentVersionDetail,
  names: ReadonlyMap<string, string>,
): FieldDifference[] {
  const [before, after] = [heldTexts(from, names), heldTexts(to, names)]
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, from: before.get(name) ?? '', to: after.get(name) ?? '' }))
    .filter((field) => field.from !== field.to)
}

const notHeld = ['updatedAt', 'version', 'hasDraft']

/** Returns the words of the fields in which a draft differs from the live record. */
export const changedFields = (live: object, draft: object): string[] => {
  const before = new Map<string, unknown>(Object.entries(live))
  return Object.entries(draft)
    .filter(([name, value]) => !notHeld.includes(name) && writeExact(before.get(name)) !== writeExact(value))
    .map(([name]) => wordsOfName(name.replace(/Ids?$/, (end) => (end === 'Ids' ? 's' : ''))).toLowerCase())
}
