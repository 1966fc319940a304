/** The columns that the middle is split into: part of the address, so that they can be shared. */
import type { Path } from 'react-router'
import { addressOf, useSearchParams, withParams } from '../../blocks/search-params.ts'
import {
  noOverrides,
  type OverrideChanges,
  type Overrides,
  overridesIn,
  withoutOldText,
} from '../overrides/overrides.ts'

const mostColumns = 4

export interface Column {
  overrides: Overrides
  /** Null until its first message is sent. */
  sessionId: string | null
}

/** The starting point of the columns' sessions. */
export interface Origin {
  sessionId: string
  /** The message of the user's that is answered again. Null when a message is sent after the session's last one. */
  answers: string | null
}

// One parameter a column, which holds parameters of its own.
const columnParam = 'column'
const answersParam = 'answers'

const columnIn = (text: string): Column => {
  const params = new URLSearchParams(text)
  return { overrides: overridesIn(params), sessionId: params.get('session') }
}

const columnsIn = (search: URLSearchParams): Column[] => search.getAll(columnParam).slice(0, mostColumns).map(columnIn)

const textOf = ({ overrides, sessionId }: Column): string =>
  withParams(new URLSearchParams(overrides), { session: sessionId }).toString()

export function useColumns() {
  const [search, setSearch] = useSearchParams()
  const columns = columnsIn(search)
  const change = (of: (before: Column[]) => Column[]) =>
    setSearch(
      (params) => {
        const next = of(columnsIn(params))
        params.delete(columnParam)
        for (const column of next) params.append(columnParam, textOf(column))
        return params
      },
      { replace: true },
    )
  const changeOne = (index: number, changes: (before: Column) => Partial<Column>) =>
    change((all) => all.map((one, at) => (at === index ? { ...one, ...changes(one) } : one)))
  const hasBegun = columns.some(({ sessionId }) => sessionId !== null)
  return {
    /** None while the middle is one conversation. */
    columns,
    /** The message that the columns answer again; as of `Origin`. */
    answers: search.get(answersParam),
    hasBegun,
    /** Adds a column that begins like the last one; the first splits the conversation in two. Null at the maximum. */
    add:
      hasBegun || columns.length >= mostColumns
        ? null
        : () =>
            change((all) => {
              const last = all.at(-1) ?? { overrides: overridesIn(search), sessionId: null }
              return all.length === 0 ? [last, last] : [...all, last]
            }),
    remove: (index: number) => change((all) => all.filter((_, at) => at !== index)),
    override: (index: number, changes: OverrideChanges) =>
      changeOne(index, ({ overrides }) => ({
        overrides: overridesIn(withParams(new URLSearchParams(overrides), withoutOldText(changes))),
      })),
    clear: (index: number) =>
      changeOne(index, ({ overrides }) => ({
        overrides: overridesIn(withParams(new URLSearchParams(overrides), noOverrides)),
      })),
    /** Stores the session of each column; null removes them. */
    setSessions: (ids: readonly string[] | null) =>
      change((all) => all.map((one, index) => ({ ...one, sessionId: ids?.[index] ?? null }))),
  }
}

/** Returns the parameters of a conversation that is one column. */
export function withoutColumns(search: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(search)
  params.delete(columnParam)
  params.delete(answersParam)
  return params
}

/** Returns the address at which that user message is answered again in two columns. */
export function splitAt(agentId: string, { sessionId, answers }: Origin, search: URLSearchParams): Partial<Path> {
  const params = withoutColumns(search)
  const overrides = new URLSearchParams(overridesIn(params)).toString()
  if (answers !== null) params.set(answersParam, answers)
  params.append(columnParam, '')
  params.append(columnParam, overrides)
  return { pathname: `/playground/${agentId}/${sessionId}`, ...addressOf(params) }
}
