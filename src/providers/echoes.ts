/** What vendors want back with a turn's tool results (`echo` in ports.ts), kept where only its own adapter can look. */
import type { ModelRequest } from '../actors/ports.ts'

type Origin = Pick<ModelRequest, 'provider' | 'model'>

export interface Echoes<What> {
  keep(origin: Origin, what: What): object
  /** Null: another adapter's, or of another provider or model, for which signed reasoning means nothing. */
  of(echo: object, asked: Origin): What | null
}

export function createEchoes<What>(): Echoes<What> {
  const kept = new WeakMap<object, { providerId: string; model: string; what: What }>()
  return {
    keep({ provider, model }, what) {
      const echo = {}
      kept.set(echo, { providerId: provider.id, model, what })
      return echo
    },
    of(echo, { provider, model }) {
      const found = kept.get(echo)
      return found?.providerId === provider.id && found.model === model ? found.what : null
    },
  }
}
