/** The Responses adapter: one turn as a stream of events. Rejects with ProviderProblem. */
import type OpenAI from 'openai'
import type { ModelEvent, ModelRequest, Take } from '../../actors/ports/index.ts'
import { callWithout, type OptionalField, type RefusedFields } from '../request/optional-fields.ts'
import { shownBody } from '../request/outgoing-parts.ts'
import { answerOf } from '../request/sdk-fetch.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import {
  hasEncrypted,
  hasSummary,
  type ResponsesBody,
  responsesBody,
  withoutEncrypted,
  withoutSummary,
} from './responses-body.ts'
import { echoes } from './responses-items.ts'
import { readResponsesTurn } from './responses-turn.ts'

/** What a server may refuse of a body that nobody asked for. */
const optional: readonly OptionalField<ResponsesBody>[] = [
  { words: /summar/i, isIn: hasSummary, without: withoutSummary },
  { words: /encrypted|\binclude\b/i, isIn: hasEncrypted, without: withoutEncrypted },
]

export function streamResponses(
  client: OpenAI,
  request: ModelRequest,
  refusals: RefusedFields,
  signal: AbortSignal,
  take: Take<ModelEvent>,
): Promise<void> {
  const turn = readResponsesTurn({
    reasoning: request.reasoning,
    keepEcho: (items) => echoes.keep(request, items),
  })
  const call = async (body: ResponsesBody, own: AbortSignal) => {
    request.calls?.({ type: 'sent', request, body: shownBody(request, body) })
    const answer = answerOf(await client.responses.create(body, { signal: own }).asResponse())
    request.calls?.({ type: 'answered', status: answer.status })
    return answer
  }
  return streamTurn(
    readingThinkTags(turn, request.reasoning),
    async (own) => callWithout(request, responsesBody(request), optional, refusals, (body) => call(body, own)),
    signal,
    take,
  )
}
