/** The versions of an agent, and what publishes one (contract section 28). */
import type { FastifyRequest } from 'fastify'
import type { FieldRefusal } from '../../../http/sending/agent-for-reply.ts'
import { checkAnswerFields } from '../../../http/sending/given-answer-fields.ts'
import { withKnownTools } from '../../../http/sending/tool-choice.ts'
import { conflict, HttpError, missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import { bearsWhole } from '../../../http/server/tags/record-tags.ts'
import type { Sql, Tx } from '../../../persistence/postgres/database.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { changesBetween, commitChange, originOf, recordChange, tellActor, writeEntries } from '../../audit/index.ts'
import { lockDraft, removeDraft } from '../store/drafts.ts'
import { applySnapshot, isSame, readSnapshot, type Snapshot, type WholeSnapshot } from '../store/snapshot.ts'
import { findVersion, listVersions, makeVersion, numberIn, type Version } from '../store/versions.ts'
import { draftWhole, fieldsOf } from './draft-records.ts'
import { publishable } from './publishable.ts'

interface Dependencies {
  sql: Sql
  fieldRefusal: FieldRefusal
}

export const versionHandlers = ({ sql, fieldRefusal }: Dependencies) => {
  const agentOf = async (id: string) => (await findAgent(sql, id)) ?? missing('agent')
  const versionOf = async (id: string, n: string) =>
    (await findVersion(sql, (await agentOf(id)).id, numberIn(n))) ?? missing('version')
  return {
    listAgentVersions: async ({ params, query }) => {
      const { id } = await agentOf(params.id)
      return await listAs('versions', query, (page) => listVersions(sql, id, page))
    },
    getAgentVersion: async ({ params: { id, n } }) => {
      const { held, ...version } = await versionOf(id, n)
      return { ...version, agent: held.agent, tools: held.tools, prompt: promptOf(held) }
    },
    publishAgentVersion: async ({ params: { id, n }, body, request }) => {
      const agent = await agentOf(id)
      const { held, number } = await versionOf(id, n)
      return await publish(sql, request, agent, async (tx) => {
        const live = (await readLockedSnapshot(tx, agent.id)) ?? missing('agent')
        if (!isSame(live, held)) await apply(tx, agent.id, await publishable(tx, held, number))
        return body.note ?? null
      })
    },
    publishAgent: async ({ params: { id }, body, request }) => {
      const agent = await agentOf(id)
      return await publish(sql, request, agent, async (tx) => {
        const state = (await lockDraft(tx, agent.id)) ?? missing('agent')
        const ifMatch = request.headers['if-match']
        if (ifMatch !== undefined && !bearsWhole(ifMatch, draftWhole(state)))
          throw new HttpError(412, 'The draft was changed since you read it. Read it again before you publish it.')
        if (state.changes === null) return conflict('The agent has no draft.')
        await checkAnswerFields(tx, fieldRefusal, state.drafted.agent)
        await apply(tx, agent.id, state.drafted)
        await removeDraft(tx, agent.id)
        return body.note ?? null
      })
    },
    deleteAgentDraft: async ({ params, request }) => {
      const { id, name } = await agentOf(params.id)
      await recordChange(
        sql,
        request,
        'agentDraft',
        async (tx) => {
          const state = await lockDraft(tx, id)
          if (state === null || !(await removeDraft(tx, id))) return missing('draft')
          return { before: fieldsOf(state), after: null, result: null }
        },
        { id, name },
      )
    },
  } satisfies Handlers<'versions'>
}

const promptOf = ({ agent: { promptId }, prompt, names }: WholeSnapshot) =>
  promptId === null || prompt === null ? null : { id: promptId, name: names.prompt ?? '', content: prompt }

async function readLockedSnapshot(tx: Tx, agentId: string): Promise<WholeSnapshot | null> {
  await tx`select 1 from agents where id = ${agentId} for no key update`
  return await readSnapshot(tx, agentId)
}

/** Makes the agent what the snapshot says. Throws 400 where agents would ask each other without end. */
const apply = (tx: Tx, agentId: string, snapshot: Snapshot) =>
  withKnownTools(() => applySnapshot(tx, agentId, snapshot))

/** Changes the agent by `change`, which returns the note of its version. Answers with the live version. */
async function publish(
  sql: Sql,
  request: FastifyRequest,
  { id, name }: { id: string; name: string },
  change: (tx: Tx) => Promise<string | null>,
): Promise<Version> {
  return await commitChange(sql, async (tx) => {
    const origin = originOf(request)
    await tellActor(tx, origin)
    const before = await toldState(tx, id)
    const note = await change(tx)
    const number = await makeVersion(tx, id, note)
    const after = await toldState(tx, id)
    if (number !== before.number) {
      const changes = { ...changesBetween(before.told, after.told), version: { from: before.number, to: number } }
      await writeEntries(tx, origin, [{ action: 'publish', kind: 'agent', recordId: id, recordName: name, changes }])
    }
    const { held: _, ...version } = (await findVersion(tx, id, number)) ?? missing('agent')
    return version
  })
}

/** Reads what an entry tells of: each field, with the text of the prompt that is in use. */
async function toldState(tx: Tx, id: string): Promise<{ told: Snapshot['agent'] & Snapshot['tools']; number: number }> {
  const agent = (await findAgent(tx, id)) ?? missing('agent')
  const { agent: fields, tools, prompt } = (await readSnapshot(tx, id)) ?? missing('agent')
  return { told: { ...fields, ...tools, systemPrompt: prompt ?? fields.systemPrompt }, number: agent.version }
}
