/** The sending of decisions about pending calls, and their audit (contract sections 15 and 23). */
import type { FastifyRequest } from 'fastify'
import type { Sent } from '../../../actors/session/host.ts'
import type { MessageInput } from '../../../http/sending/message-input.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { originOf, writeEntries } from '../../audit/index.ts'
import type { GivenDecisions } from './decisions.ts'

/** Sends decisions in place of a message, by `send`, and records them in the audit. */
export async function sendDecisions(
  sql: Sql,
  request: FastifyRequest,
  input: Omit<MessageInput, 'text' | 'onBusy'> & { decisions: GivenDecisions },
  send: (input: MessageInput) => Promise<Sent>,
): Promise<Sent> {
  const sent = await send({ ...input, text: '', onBusy: 'reject' })
  await recordDecisions(sql, request, sent, input.decisions)
  return sent
}

/** Records decisions in the audit. Nothing was decided when the reply was joined or refused. */
export async function recordDecisions(
  sql: Sql,
  request: FastifyRequest,
  sent: Sent,
  decisions: GivenDecisions | null | undefined,
): Promise<void> {
  const isNew = sent.outcome === 'started' || (sent.outcome === 'decided_in_part' && !sent.repeated)
  if (!isNew || !decisions) return
  const names = new Map(decisions.wait?.pending.map(({ call_id, name }) => [call_id, name]))
  const entries = decisions.calls.map(({ id, decision, wish }) => ({
    action: 'decide' as const,
    kind: 'call',
    recordId: id,
    recordName: names.get(id) ?? null,
    changes: {
      decision: { from: null, to: decision },
      ...(wish?.scope && { remember: { from: null, to: wish.scope } }),
    },
  }))
  await writeEntries(sql, originOf(request), entries).catch((error: unknown) => {
    // The decisions are stored and carried out: a 503 would say that nothing is stored (contract section 10).
    request.log.warn({ entries, detail: String(error) }, 'Decisions could not be written into the audit.')
  })
}
