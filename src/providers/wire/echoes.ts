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
  keep(origin: Origin, what: What): object
  /** Null when it is another adapter's, or of another provider or model, for which signed reasoning means nothing. */
  of(echo: object, asked: Origin): What | null
}

interface Echo<What> {
  adapter: string
  providerId: string
  model: string
  what: What
}

export function createEchoes<What>(adapter: string): Echoes<What> {
  // What came back from the database is what this adapter has put there.
  const isOwn = (echo: object): echo is Echo<What> => 'adapter' in echo && echo.adapter === adapter
  return {
    keep: ({ provider, model }, what): Echo<What> => ({ adapter, providerId: provider.id, model, what }),
    of(echo, { provider, model }) {
      return isOwn(echo) && echo.providerId === provider.id && echo.model === model ? echo.what : null
    },
  }
}
