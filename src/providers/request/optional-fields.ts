/**
 * Parts of a request that no caller set and that some vendor or model refuses: a field, or the lack of one. The request
 * is made once more the other way, which is no retry, and the refusal is remembered for that provider and model.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ModelRequest } from '../../actors/ports/index.ts'
import { type ProviderProblem, problemIn } from '../wire/failure.ts'
import type { Remembered } from '../wire/remembered.ts'

export interface OptionalField<Body> {
  /** The words of the provider's error. */
  words: RegExp
  isIn(body: Body): boolean
  /**
   * Returns the body that is accepted. It is tried once in a call, and never where it was refused before: two of them
   * may undo each other.
   */
  without(body: Body): Body
}

export type RefusedFields = Remembered<true>

/**
 * Repeats the call until the body holds nothing more that the provider refuses. Rejects with any other error.
 */
export async function callWithout<Body, Answer>(
  { provider, model }: Pick<ModelRequest, 'provider' | 'model'>,
  body: Body,
  optional: readonly OptionalField<Body>[],
  refusals: RefusedFields,
  call: (body: Body) => Promise<Answer>,
): Promise<Answer> {
  const nameOf = ({ words }: OptionalField<Body>) => `${provider.id} ${provider.baseUrl} ${model} ${words.source}`
  const remember = () => {
    for (const name of refused) refusals.set(name, true)
  }
  let sent = body
  for (const field of optional) if (refusals.get(nameOf(field)) && field.isIn(sent)) sent = field.without(sent)
  const refused: string[] = []
  const tried: Body[] = []
  for (;;) {
    try {
      return await remembering(call(sent), remember)
    } catch (error) {
      const problem = problemIn(error)
      if (problem === null || !isRefusal(problem)) throw problem ?? error
      const field = optional.find(
        (one) => !refused.includes(nameOf(one)) && one.isIn(sent) && one.words.test(problem.full),
      )
      if (!field) throw problem
      tried.push(sent)
      sent = field.without(sent)
      if (tried.some((body) => isDeepStrictEqual(body, sent))) throw problem
      refused.push(nameOf(field))
    }
  }
}

/**
 * Runs `remember` when a call without what was refused is not refused itself, whether it succeeds or fails in another
 * way: its retry must not hold that field again.
 */
export async function remembering<Answer>(call: Promise<Answer>, remember: () => void): Promise<Answer> {
  try {
    const answer = await call
    remember()
    return answer
  } catch (error) {
    const problem = problemIn(error)
    if (problem !== null && !isRefusal(problem)) remember()
    throw error
  }
}

/**
 * Returns whether the provider refuses the request as it is written. One that is too long is not: no field makes it
 * shorter, and its words may be about anything.
 */
export const isRefusal = ({ status, overflow }: ProviderProblem): boolean =>
  (status === 400 || status === 422) && overflow === null
