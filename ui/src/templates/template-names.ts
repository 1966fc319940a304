/**
 * The names allowed in double braces, as the server reads them (contract section 20), for fields that use templates.
 */
import { METADATA, placeholdersIn, valueNames } from '../../../src/templates/placeholders.ts'
import { promptProblem } from '../../../src/templates/prompt-template.ts'
import { argumentsOf, toolTemplateProblem } from '../../../src/templates/tool-template.ts'

export interface TemplateName {
  name: string
  hint: string
}

/** The names that a field offers, and those that it takes. */
export interface TemplateRules {
  names: readonly TemplateName[]
  /** Whether the name between these braces stands for something. Null when it is text of the field's own. */
  isKnown: (inner: string) => boolean | null
  /** Why the text may not be saved. Null when it may. */
  problem: (text: string) => string | null
}

const hints: Record<(typeof valueNames)[number], string> = {
  'session.id': 'the session',
  'session.user': 'its user',
  'now.date': 'the day, UTC',
  'now.time': 'the time, UTC',
}

const values: readonly TemplateName[] = [
  ...valueNames.map((name) => ({ name, hint: hints[name] })),
  { name: METADATA, hint: 'its metadata: go on with a name' },
]

const kindOf = (inner: string) => placeholdersIn(`{{${inner}}}`)[0]?.placeholder

export const promptRules: TemplateRules = {
  names: values,
  isKnown(inner) {
    const found = kindOf(inner)
    return found === undefined || found.kind === 'other' ? null : found.kind === 'value'
  },
  problem: promptProblem,
}

/** Returns the rules of a tool. `schema`: of its arguments. */
export function toolRules(schema: Record<string, unknown> | null): TemplateRules {
  const args = argumentsOf(schema)
  return {
    names: [...[...args].map((name) => ({ name, hint: 'an argument of the model' })), ...values],
    isKnown(inner) {
      const found = kindOf(inner)
      return found !== undefined && (found.kind === 'value' || (found.kind === 'other' && args.has(found.name)))
    },
    problem: (text) =>
      toolTemplateProblem({ url: text, headers: {}, body: null, inputSchema: schema })?.replace(/^url: /, '') ?? null,
  }
}

/**
 * Returns the names that become arguments, each once, in order of appearance. Values of the session and the time are
 * none.
 */
export const argumentNames = (...texts: string[]): string[] => [
  ...new Set(
    texts.flatMap(placeholdersIn).flatMap(({ placeholder: { kind, name } }) => (kind === 'other' ? [name] : [])),
  ),
]

/** Returns the names of a session's values other than its id, each once: `session.user`, `session.metadata.plan`. */
export const sessionNames = (...texts: string[]): string[] => [
  ...new Set(
    texts
      .flatMap(placeholdersIn)
      .flatMap(({ placeholder: { kind, name } }) =>
        kind === 'value' && (name === 'session.user' || name.startsWith(METADATA)) ? [name] : [],
      ),
  ),
]

/** A session's values by their names, as a test of a tool takes them. Empty ones are missing. */
export function sessionValues(values: Readonly<Record<string, string>>): {
  user?: string
  metadata: Record<string, string>
} {
  const { 'session.user': user, ...others } = values
  const metadata = Object.entries(others).flatMap(([name, value]) =>
    value === '' ? [] : [[name.slice(METADATA.length), value]],
  )
  return { ...(user && { user }), metadata: Object.fromEntries(metadata) }
}

export interface TemplatePart {
  text: string
  /** Null for text. */
  isKnown: boolean | null
  at: number
}

/** Splits the text into parts, which joined are the text. */
export function partsOf(text: string, { isKnown }: Pick<TemplateRules, 'isKnown'>): TemplatePart[] {
  return text
    .split(/(\{\{[^{}]*\}\})/)
    .filter((piece) => piece !== '')
    .map((piece, at) => {
      const [, inner] = /^\{\{([^{}]*)\}\}$/.exec(piece) ?? []
      return { text: piece, isKnown: inner === undefined ? null : isKnown(inner), at }
    })
}

/** Returns the name that is being typed after the last braces before the caret, or null. */
export function typedName(beforeCaret: string): string | null {
  const [, typed] = /\{\{\s*([^{}|\s]*)$/.exec(beforeCaret) ?? []
  return typed ?? null
}
