/** The Responses adapter: one turn as a stream of events. Rejects with ProviderProblem. */
import type { ModelEvent, ModelRequest, Take } from '../../actors/ports/index.ts'
import type { ProviderFetch } from '../request/fetch.ts'
import { callWithout, type OptionalField, type RefusedFields } from '../request/optional-fields.ts'
import { requestTurn } from '../request/provider-call.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { openAiApi } from './chat.ts'
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
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: RefusedFields,
  take: Take<ModelEvent>,
): Promise<void> {
  const turn = readResponsesTurn({
    reasoning: request.reasoning,
    keepEcho: (items) => echoes.keep(request, items),
  })
  const api = openAiApi(request.provider, '/responses')
  const call = (body: ResponsesBody, own: AbortSignal) => requestTurn(fetch, request, api, body, own)
  return streamTurn(
    readingThinkTags(turn, request.reasoning),
    async (own) => callWithout(request, responsesBody(request), optional, refusals, (body) => call(body, own)),
    signal,
    take,
  )
}
