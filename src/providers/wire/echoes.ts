/**
 * Echoes (`echo` in ports.ts): the data that vendors require back with a turn's tool results. They are JSON, since they
 * are stored with pending calls. Only the adapter that made an echo reads it. The text that the turn continues is
 * stored next to it.
 */
import type { ModelRequest } from '../../actors/ports/index.ts'

/**
 * Messages before a turn's continuation: the interrupted text, and the instruction to the model where there was one.
 */
type Said = { role: 'assistant' | 'user'; content: string }

interface Behind {
  behind: readonly Said[]
}

const isBehind = (echo: object): echo is Behind => 'behind' in echo

/**
 * Adds the messages before an echo. An echo holds the output of its own call. `behind` came before that, within the
 * same turn, and is no part of it.
 */
export const withBehind = (echo: object, behind: readonly Said[]): object => ({ ...echo, behind }) satisfies Behind

/** Returns the messages to send before an echo. */
export const saidBehind = (echo: object): readonly Said[] => (isBehind(echo) ? echo.behind : [])

type Origin = Pick<ModelRequest, 'provider' | 'model'>

export interface Echoes<What> {
  /** Makes an echo. `held`: sent back once the provider requires it. */
  keep(origin: Origin, what: What | null, held?: What | null): object
  /**
   * Returns the content of an echo. Null when it is another adapter's, or of another provider or model, for which
   * signed reasoning means nothing.
   */
  of(echo: object, origin: Origin): What | null
  heldOf(echo: object, origin: Origin): What | null
}

interface Echo<What> {
  adapter: string
  providerId: string
  model: string
  what: What | null
  /** A part apart from `what`, since instances of earlier versions send all of that. */
  held?: What
}

export function createEchoes<What>(adapter: string): Echoes<What> {
  // The adapter itself stored what comes back from the database.
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
    of: (echo, origin) => ownOf(echo, origin)?.what ?? null,
    heldOf: (echo, origin) => ownOf(echo, origin)?.held ?? null,
  }
}
