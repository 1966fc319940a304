/** Stateless responses (`store: false`, contract section 24). The input is the whole history, and nothing is stored. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { closingFrames, frameOf } from '../../../actors/reply/reply-event.ts'
import { noTools } from '../../../features/approvals/index.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'
import { answerStateless, type StatelessAnswer, type StatelessInfo } from '../chat/completions.ts'
import { createResponseEncoder } from './encoder.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { conversationOf } from './history-items.ts'
import { readInput } from './input-items.ts'
import { instructionsIn, readFields, renamingFieldsInErrors } from './request-fields.ts'
import type { ResponseHead, ResponseObject } from './response-object.ts'

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
      read(uploads) {
        const items = readInput(body.input, uploads)
        return {
          instructions: instructionsIn(items, wanted.response, exchange.caller),
          sent: conversationOf(items),
          fields: wanted.fields,
          callerTools: wanted.callerTools ?? noTools,
          reasoning: true,
          turnsApart: true,
          stream: body.stream === true,
          includeUsage: false,
          user: body.safety_identifier ?? body.user ?? null,
        }
      },
      open: (info) => statelessAnswer({ reply: info, sessionId: null, previousId: null, request: wanted.response }),
    })
  })
}

/** Refuses fields that require a stored response. Throws 400. */
function refuseStored({ background, conversation, previous_response_id: previous }: Body): void {
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
