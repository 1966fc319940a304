/** The state in the chart's address: the tab and the session, `/chart?view=replay&agent=…&session=…`. */
import { useSearchParams } from 'react-router'

export interface ChosenSession {
  agentId: string
  sessionId: string
}

export const firstView = 'live'

/** Names no session for a tab that shows none, or chooses its own. */
export function chartAddress(view: string, session: ChosenSession | null): string {
  const search = new URLSearchParams(view === firstView ? {} : { view })
  if (session) {
    search.set('agent', session.agentId)
    search.set('session', session.sessionId)
  }
  return search.size === 0 ? '/chart' : `/chart?${search}`
}

export const playgroundOf = ({ agentId, sessionId }: ChosenSession): string => `/playground/${agentId}/${sessionId}`

/** Reads and changes the chart's address. Choosing another session drops the parameters of the previous one. */
export function useChartAddress() {
  const [search, setSearch] = useSearchParams()
  const view = search.get('view') ?? firstView
  const agentId = search.get('agent')
  const sessionId = search.get('session')
  const chosen: ChosenSession | null = agentId && sessionId ? { agentId, sessionId } : null
  return {
    view,
    chosen,
    /** A session that the address names without its agent. Null where it names both, or none. */
    unplaced: agentId === null ? sessionId : null,
    choose: (next: ChosenSession | null) => setSearch(new URL(chartAddress(view, next), location.origin).search),
  }
}
