/** Continues a generation that another instance began (contract section 21). */

import { emitResults, makeCall } from '../../actors/generate/call-results.ts'
import type { Resumption, Running } from '../../actors/generate/running.ts'
import { resultOfDecision } from '../../actors/history/decided-calls.ts'
import type { AnswerFields, ModelMessage, ModelRequest, Toolbox, Wait } from '../../actors/ports/index.ts'
import type { ReplyEvent } from '../../actors/reply/reply-event.ts'
import type { Joined, ResumePoint } from './resume-point.ts'

/** Returns what a generation takes to continue from a point. `joined`: the point once its open calls have these results. */
export const resumption = (point: ResumePoint, joined: (joined: Joined) => ResumePoint): Resumption => ({
  ...point,
  ...(point.open.length > 0 && {
    async rejoin(toolbox, running) {
      const { said, wait } = joined(await rejoin(point, toolbox, running))
      return { said, wait: wait && running.calls.waitOf(wait) }
    },
  }),
  beginAgain: (messages, running) => beginAgain(point, messages, running),
  async goOnBehind(running, ask) {
    const request = await withTokensLeft(point.text, running)
    return await ask([{ role: 'assistant', content: point.text, isBeginning: true }], { ...running, request })
  },
})

/** Waits for the calls that other sessions answer, and shows their results as they come. */
async function rejoin({ open }: ResumePoint, toolbox: Toolbox, running: Running): Promise<Joined> {
  const results = open.map(({ key, ...call }) => makeCall(call, { toolbox, key }, running))
  const contents = await emitResults(
    open.map(({ id }) => ({ id, isMade: true })),
    results,
    running,
  )
  const ends = await Promise.all(results)
  return {
    results: new Map(open.flatMap(({ id }, index) => (ends[index]?.waits ? [] : [[id, contents[index] ?? '']]))),
    waiting: new Map(
      open.flatMap(({ id }, index) => {
        const kind = ends[index]?.waits
        return kind === undefined ? [] : [[id, kind]]
      }),
    ),
  }
}

async function beginAgain(
  { unknown, notMade, open, wait, text, reasoning }: ResumePoint,
  messages: readonly ModelMessage[],
  { calls, take, tally }: Running,
): Promise<Wait | null> {
  const shown = [...unknown.map((id): ReplyEvent => ({ type: 'tool_unknown', id })), ...notMade.map(resultOfDecision)]
  if (shown.length > 0) await take(shown)
  if (text !== '' || reasoning !== '') {
    tally.begin(messages, { text, reasoning, counted: { promptTokens: 0, completionTokens: 0 }, end: null })
  }
  return open.length > 0 ? null : wait && calls.waitOf(wait)
}

/** Returns the request with the token limit that the interrupted text has left. */
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
