/** Changes that somebody else makes to agents, taken as drafts: they are tried, read, and undone. */
import type { Tx } from '../../../persistence/postgres/database.ts'
import { findPrompt } from '../../../persistence/records/prompts.ts'
import { changeDraft, lockDraft } from './drafts.ts'
import { readSnapshot, type WholeSnapshot, withoutGoneTools } from './snapshot.ts'

class Undone extends Error {
  override readonly name = 'Undone'
}

/** Runs work that changes agents, undoes it, and makes what it changed of these agents their drafts. */
export async function asDrafts<Result>(
  tx: Tx,
  agentIds: readonly string[],
  work: (tx: Tx) => Promise<Result>,
): Promise<{ result: Result; changed: string[] }> {
  const wanted = new Map<string, WholeSnapshot>()
  const made: { result?: { of: Result } } = {}
  await tx
    .savepoint(async (tried) => {
      made.result = { of: await work(tried) }
      for (const id of agentIds) {
        const snapshot = await readSnapshot(tried, id)
        if (snapshot) wanted.set(id, snapshot)
      }
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  if (made.result === undefined) throw new Error('The work did not end.')
  const changed: string[] = []
  for (const [id, snapshot] of wanted) if (await propose(tx, id, snapshot)) changed.push(id)
  return { result: made.result.of, changed }
}

/** Makes the draft of an agent what it is to be. Returns whether that says anything new. */
async function propose(tx: Tx, agentId: string, wanted: WholeSnapshot): Promise<boolean> {
  const state = await lockDraft(tx, agentId)
  if (state === null) return false
  const { agent, tools, named, prompt } = await withoutGoneTools(tx, wanted)
  const stored = agent.promptId === null ? null : await findPrompt(tx, agent.promptId)
  // A prompt's text is everybody's: the draft has the new one as its own.
  const isOwn = agent.promptId !== null && stored?.content !== prompt
  const spoken = isOwn ? { promptId: null, systemPrompt: prompt } : {}
  return await changeDraft(tx, agentId, state, { agent: { ...agent, ...spoken }, tools, named })
}
