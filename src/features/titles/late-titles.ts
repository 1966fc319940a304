/** Titles that are given after a session's first reply (SESSION_TITLES=model), and after a crash. */

import { deriveTitle } from '../../actors/history/title.ts'
import type { Journal, Model, ModelRequest } from '../../actors/ports/index.ts'
import type { Observer } from '../../actors/ports/observer.ts'
import { newId } from '../../actors/reply/new-id.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { AgentForCompletion, AgentLookup } from '../../persistence/records/agent-lookup.ts'
import { askForTitle, MAX_TITLE_SOURCE, titleOf, titleRequest } from './model-title.ts'
import { claimUntitled, postponeTitle, releaseTitle, storeTitle, type UntitledSession } from './store/titles.ts'

export interface TitleOptions {
  sql: Sql
  titles: 'derived' | 'model'
  model: Model
  observer: Observer
  /** Null when there is no such agent. */
  agents: Pick<AgentLookup, 'find'>
  /** Builds the agent's requests. Throws when its provider's key cannot be opened. */
  requestOf(agent: AgentForCompletion): Pick<ModelRequest, 'provider' | 'model' | 'config' | 'fallbacks'>
  log: { warn(details: object, message: string): void }
}

const TITLE_TIMEOUT_MS = 30_000
/** Longer than the model call and its two statements, so that no other instance claims the session meanwhile. */
const CLAIM_MS = 60_000
const NEXT_ATTEMPT_MS = 30_000
const MAX_ATTEMPTS = 2
/** Model calls for titles at a time. */
const CONCURRENCY = 4

/** Returns a journal that leaves titles to the job, and wakes it when a session needs one. Until then a session has a draft. */
export const withLateTitles = (journal: Journal, wake: () => void): Journal => ({
  ...journal,
  admit: (message) => journal.admit({ ...message, titleIsDraft: true }),
  async settle(reply, settlement) {
    const settled = await journal.settle(reply, { ...settlement, title: null })
    if (settlement.title !== null && settled.result === 'settled') wake()
    return settled
  },
})

/** Gives each session that is due its title. In `derived` mode: sessions that a crash left without one. */
export const giveTitles =
  (options: TitleOptions) =>
  async (signal: AbortSignal): Promise<void> => {
    const claim = () => claimUntitled(options.sql, { claimMs: CLAIM_MS, maxText: MAX_TITLE_SOURCE })
    const work = async (first: UntitledSession | null) => {
      for (let session = first; session !== null; session = signal.aborted ? null : await claim())
        await giveTitle(options, session, signal)
    }
    // Mostly one is due or none: the others look once it is known that there is work.
    const found = signal.aborted ? null : await claim()
    if (found === null) return
    const others = Array.from({ length: CONCURRENCY - 1 }, async () => work(await claim()))
    await Promise.all([work(found), ...others])
  }

async function giveTitle(options: TitleOptions, session: UntitledSession, signal: AbortSignal): Promise<void> {
  const { sql, titles, log } = options
  const { id, attempt, question } = session
  let title: string | null = null
  try {
    if (titles === 'model' && attempt <= MAX_ATTEMPTS) title = await modelTitle(options, session, signal)
  } catch (err) {
    if (signal.aborted) return releaseTitle(sql, id)
    log.warn({ err, sessionId: id, attempt }, 'The model returned no title for a session.')
    if (attempt < MAX_ATTEMPTS) return postponeTitle(sql, id, NEXT_ATTEMPT_MS)
  }
  await storeTitle(sql, id, title ?? deriveTitle(question))
}

/** Returns null for an empty response. Rejects when the call fails. */
async function modelTitle(
  { agents, requestOf, model, observer }: TitleOptions,
  { id: sessionId, agentId, question, answer, countsFor }: UntitledSession,
  signal: AbortSignal,
): Promise<string | null> {
  const agent = await agents.find(agentId)
  if (agent === null) return null // deleted meanwhile, and the session with it
  const request = titleRequest(requestOf(agent), { question, answer })
  const observed = observer.begin({
    id: newId(),
    purpose: 'title',
    sessionId,
    agentId,
    agentName: agent.name,
    model: request.model,
    providerId: request.provider.id,
    providerType: request.provider.type,
    config: request.config,
    origin: null,
    countsFor: countsFor ?? undefined,
  })
  return titleOf(await askForTitle({ request, observer: observed, model, timeoutMs: TITLE_TIMEOUT_MS }, signal))
}
