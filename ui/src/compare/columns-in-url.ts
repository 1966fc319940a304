/** The columns of a comparison: part of the address, so that it can be shared. */
import { useSearchParams, withParams } from '../blocks/search-params.ts'
import { noOverrides, type OverrideChanges, type Overrides, overridesIn } from '../playground/overrides/overrides.ts'

export const fewestColumns = 2
export const mostColumns = 4

export interface Column {
  overrides: Overrides
  /** Null until its first message is sent. */
  sessionId: string | null
}

/** Where the columns' sessions begin. */
export interface Origin {
  sessionId: string
  /** The message of the user's that is answered again. Null when a message is sent after the session's last one. */
  answers: string | null
}

// One parameter a column, which holds parameters of its own.
const columnParam = 'column'

const columnIn = (text: string): Column => {
  const params = new URLSearchParams(text)
  return { overrides: overridesIn(params), sessionId: params.get('session') }
}

function columnsIn(search: URLSearchParams): Column[] {
  const columns = search.getAll(columnParam).slice(0, mostColumns).map(columnIn)
  while (columns.length < fewestColumns) columns.push({ overrides: {}, sessionId: null })
  return columns
}

const textOf = ({ overrides, sessionId }: Column): string =>
  withParams(new URLSearchParams(overrides), { session: sessionId }).toString()

function originIn(search: URLSearchParams): Origin | null {
  const sessionId = search.get('from')
  return sessionId === null ? null : { sessionId, answers: search.get('answers') }
}

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
  return {
    columns,
    origin: originIn(search),
    /** Another one, which begins as the last. */
    add: () => change((all) => [...all, { overrides: all.at(-1)?.overrides ?? {}, sessionId: null }]),
    remove: (index: number) => change((all) => all.filter((_, at) => at !== index)),
    override: (index: number, changes: OverrideChanges) =>
      changeOne(index, ({ overrides }) => ({
        overrides: overridesIn(withParams(new URLSearchParams(overrides), changes)),
      })),
    clear: (index: number) =>
      changeOne(index, ({ overrides }) => ({
        overrides: overridesIn(withParams(new URLSearchParams(overrides), noOverrides)),
      })),
    /** One for each column; null: none any longer. */
    setSessions: (ids: readonly string[] | null) =>
      change((all) => all.map((one, index) => ({ ...one, sessionId: ids?.[index] ?? null }))),
  }
}

/** The page that compares an agent's replies from that place on; null: from the beginning. */
export function comparePath(agentId: string, origin: Origin | null, overrides: Overrides): string {
  const params = new URLSearchParams()
  if (origin) params.set('from', origin.sessionId)
  if (origin?.answers) params.set('answers', origin.answers)
  params.append(columnParam, '')
  params.append(columnParam, new URLSearchParams(overrides).toString())
  return `/playground/${agentId}/compare?${params}`
}
