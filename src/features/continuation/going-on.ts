/**
 * The continuation of a generation that another instance began, and the stored state with which another one can
 * continue it.
 */

import type { Running } from '../../actors/generate/running.ts'
import type { AnswerFields, ModelMessage, ModelRequest, OpenTurn } from '../../actors/ports/index.ts'
import type { ReplyEvent } from '../../actors/reply/reply-event.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import { resultOfDecision } from '../approvals/decided-calls.ts'
import { type Wait, waitOf } from '../approvals/waiting-calls.ts'
import type { ResumePoint } from './resume-point.ts'

/** Stores a turn with its calls, before these are made. */
export function keeping(
  n: number,
  { answer, spent }: Pick<OpenTurn, 'answer'> & { spent: number },
  { keepTurn, tally, notStored }: Running,
): (waiting: OpenTurn['waiting']) => Promise<void> {
  return async (waiting) => {
    if (keepTurn === undefined) return
    const used = await tally.usage()
    if (!(await keepTurn(n, { turn: { answer, results: [], waiting }, spent, used }))) notStored()
  }
}

/**
 * Shows which calls have an unknown outcome and what decisions say of others, and counts the turn that was interrupted, by
 * `messages`, what it was sent. How the reply waits, where it had ended for that; else null.
 */
export async function beginAgain(
  { unknown, notMade, wait, text, reasoning }: ResumePoint,
  messages: readonly ModelMessage[],
  { actions, take, tally }: Running,
): Promise<Wait | null> {
  const shown = [...unknown.map((id): ReplyEvent => ({ type: 'tool_unknown', id })), ...notMade.map(resultOfDecision)]
  if (shown.length > 0) await take(shown)
  if (text !== '' || reasoning !== '') {
    tally.begin(messages, { text, reasoning, counted: { promptTokens: 0, completionTokens: 0 }, end: null })
  }
  return wait && waitOf(wait, actions)
}

/** Continues an interrupted text by one model turn. `ask`: receives the messages to send after the earlier ones. */
export async function goOnBehind<Turn>(
  text: string,
  running: Running,
  ask: (more: readonly ModelMessage[], running: Running) => Promise<Turn>,
): Promise<Turn> {
  const request = await withTokensLeft(text, running)
  return await ask([{ role: 'assistant', content: text, isBeginning: true }], { ...running, request })
}

/** Returns the request, with the token limit that remains after the interrupted text. */
async function withTokensLeft(text: string, { request, model }: Running): Promise<Omit<ModelRequest, 'tools'>> {
  const { fields, agentFields, config } = request
  const most = [fields?.maxTokens?.value, agentFields?.maxTokens, config.maxOutputTokens]
  if (most.every((one) => one === undefined)) return request
  const [used = 0] = await model.countTokens([text])
  const left = (value: number) => Math.max(1, value - used)
  const ofRequest: AnswerFields | undefined = fields?.maxTokens && {
    ...fields,
    maxTokens: { ...fields.maxTokens, value: left(fields.maxTokens.value) },
  }
  return {
    ...request,
    ...(ofRequest && { fields: ofRequest }),
    ...(agentFields?.maxTokens !== undefined && {
      agentFields: { ...agentFields, maxTokens: left(agentFields.maxTokens) },
    }),
    ...(config.maxOutputTokens !== undefined && {
      config: { ...config, maxOutputTokens: left(config.maxOutputTokens) },
    }),
  }
}

/**
 * Returns whether the reply ends here. Steering goes before a handover: a reply that ends here needs no other instance.
 * It may come while one is offered.
 */
export async function endsHere(running: Running): Promise<boolean> {
  if (await isSteered(running)) return true
  // Another instance would not have the pictures.
  const offered = running.pictures.areShown() ? undefined : running.atBoundary?.()
  if (!offered) return false
  await unlessAborted(offered, running.signal)
  return await isSteered(running)
}

/**
 * Returns whether the reply is steered. While the database is away, no message is known: the reply continues as far as
 * it can be stored.
 */
export async function isSteered({ isSteered: ask, signal }: Running): Promise<boolean> {
  if (ask === undefined) return false
  return await unlessAborted(
    ask().catch(() => false),
    signal,
  )
}
