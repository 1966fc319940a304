/** Stateless responses (`store: false`, contract section 24). The input is the whole history, and nothing is stored. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { closingFrames, frameOf } from '../../../actors/reply/reply-event.ts'
import { noTools } from '../../../features/approvals/index.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { textOfInstructions } from '../../sending/caller-instructions.ts'
import { ITEM_ENCODER } from '../../sending/message-record.ts'
import { withFewerCalls } from '../../sending/overrides.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'
import type { StatelessAnswer, StatelessInfo } from '../chat/chat-answer.ts'
import { answerStateless } from '../chat/completions.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { conversationOf } from './input/history-items.ts'
import { readInput } from './input/input-items.ts'
import { instructionsIn, readFields, renamingFieldsInErrors } from './input/request-fields.ts'
import { openSummary } from './input/sealed-summary.ts'
import { createResponseEncoder } from './output/encoder.ts'
import type { ResponseHead, ResponseObject } from './output/response-object.ts'

type Body = components['schemas']['ResponseRequestBody']

export async function answerStatelessly(
  deps: ResponseDependencies,
  agent: AgentForCompletion,
  body: Body,
  exchange: Exchange,
): Promise<ResponseObject | undefined> {
  if (exchange.caller.kind === 'secret') {
    throw new HttpError(403, 'store: with a client secret every response is stored')
  }
  refuseStored(body)
  return await renamingFieldsInErrors(async () => {
    const wanted = readFields(body, agent)
    return await answerStateless(deps, agent.id, exchange, {
      read(uploads, agent) {
        const by = { agent, caller: exchange.caller }
        const { summary, items } = openSummary(deps, agent.id, readInput(body.input, uploads), { isStored: false })
        return {
          appended: textOfInstructions(agent, instructionsIn(items, wanted.response, by), 'responses'),
          agent: withFewerCalls(agent, wanted.maxToolCalls),
          sent: conversationOf(items),
          summary: summary?.text ?? null,
          fields: wanted.fields,
          callerTools: wanted.callerTools ?? noTools,
          reasoning: true,
          turnsApart: true,
          stream: body.stream === true,
          includeUsage: false,
          user: body.safety_identifier ?? body.user ?? null,
        }
      },
      open: (info) =>
        statelessAnswer({
          reply: info,
          sessionId: null,
          encoder: ITEM_ENCODER,
          previousId: null,
          request: wanted.response,
        }),
    })
  })
}

/** Refuses fields that require a stored response. Throws 400. */
export function refuseStored({ background, conversation, previous_response_id: previous }: Body): void {
  if (background === true) badRequest('background: cannot stand beside store: false')
  if (conversation !== undefined && conversation !== null) badRequest('conversation: cannot stand beside store: false')
  if (previous !== undefined && previous !== null) badRequest('previous_response_id: cannot stand beside store: false')
}

function statelessAnswer(head: ResponseHead & { reply: StatelessInfo }): StatelessAnswer<ResponseObject> {
  const streamed = createResponseEncoder(head)
  return {
    encode: streamed.encode,
    whole(events, outcome) {
      const encoder = createResponseEncoder(head, Number.POSITIVE_INFINITY)
      encoder.encode([{ seq: 0, type: 'started' }])
      encoder.encode(events.map((event) => frameOf({ seq: 0, part: 0, event })))
      encoder.encode(closingFrames(outcome, 0, false))
      return encoder.response()
    },
  }
}
