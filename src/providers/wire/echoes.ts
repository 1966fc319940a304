/**
 * What vendors want back with a turn's tool results (`echo` in ports.ts): JSON, since it is stored with calls that wait for
 * somebody. Only the adapter that made it looks into it; what a turn went on behind stands beside that.
 */
import type { ModelRequest } from '../../actors/ports/index.ts'

/** What a turn went on behind: the text that was interrupted, and how the model was told of it where it was. */
type Said = { role: 'assistant' | 'user'; content: string }

interface Behind {
  behind: readonly Said[]
}

const isBehind = (echo: object): echo is Behind => 'behind' in echo

/** An echo holds what its own call made. `behind` was said before that, within the same turn, and is no part of it. */
export const withBehind = (echo: object, behind: readonly Said[]): object => ({ ...echo, behind }) satisfies Behind

/** What is to be sent ahead of an echo. */
export const saidBehind = (echo: object): readonly Said[] => (isBehind(echo) ? echo.behind : [])

type Origin = Pick<ModelRequest, 'provider' | 'model'>

export interface Echoes<What> {
  /** `held`: goes back once the provider asks for it. */
  keep(origin: Origin, what: What | null, held?: What | null): object
  /** Null when it is another adapter's, or of another provider or model, for which signed reasoning means nothing. */
  of(echo: object, asked: Origin): What | null
  heldOf(echo: object, asked: Origin): What | null
}

interface Echo<What> {
  adapter: string
  providerId: string
  model: string
  what: What | null
  /** Beside `what`, all of which instances of earlier versions send. */
  held?: What
}

export function createEchoes<What>(adapter: string): Echoes<What> {
  // What came back from the database is what this adapter has put there.
  const isOwn = (echo: object): echo is Echo<What> => 'adapter' in echo && echo.adapter === adapter
  const ownOf = (echo: object, { provider, model }: Origin): Echo<What> | null =>
    isOwn(echo) && echo.providerId === provider.id && echo.model === model ? echo : null
  return {
    keep: ({ provider, model }, what, held): Echo<What> => ({
      adapter,
      providerId: provider.id,
      model,
      what,
      ...(held && { held }),
    }),
    of: (echo, asked) => ownOf(echo, asked)?.what ?? null,
    heldOf: (echo, asked) => ownOf(echo, asked)?.held ?? null,
  }
}
