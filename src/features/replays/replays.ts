/** Runs the cases of replays on this instance, beside its replies. */
import type { Slot } from '../../actors/session/registry.ts'
import { type CaseDependencies, runCase } from './replay-case.ts'
import { type CaseEnd, type Cases, keyOf, type TakenCase } from './store/cases.ts'

export interface ReplayOptions extends CaseDependencies {
  cases: Cases
  /** Tells that a case does not run here any more: there is a place for the next one. */
  onLeft(): void
}

/** The share of the places of `MAX_RUNNING_REPLIES` that cases take, so that they keep nobody's reply waiting. */
const SHARE = 1 / 4

const failed: CaseEnd = {
  ...{ status: 'error', old: null, new: null, divergence: null },
  error: { code: 'internal', message: 'The case could not be run.' },
}

export function createReplays({ cases, onLeft, ...deps }: ReplayOptions) {
  const { host } = deps
  const running = new Map<string, { taken: TakenCase; stop: AbortController }>()
  const most = Math.max(1, Math.floor(host.options.maxRunning * SHARE))
  const log = (err: unknown, taken: TakenCase) =>
    host.options.log.error({ err, replayId: taken.replayId, messageId: taken.messageId }, 'A case of a replay failed.')

  const here = () => [...running.values()].map(({ taken }) => taken)

  async function run(taken: TakenCase, slot: Slot): Promise<void> {
    const stop = new AbortController()
    running.set(keyOf(taken), { taken, stop })
    try {
      const signal = AbortSignal.any([stop.signal, slot.signal])
      const ended = await runCase(deps, taken, signal).catch((error: unknown) => {
        log(error, taken)
        return failed
      })
      // It was cancelled or deleted, or it begins anew elsewhere. What cannot be stored begins anew, too.
      await (ended === null ? cases.giveBack(taken) : cases.end(taken, ended))
    } catch (error) {
      log(error, taken)
    } finally {
      running.delete(keyOf(taken))
      slot[Symbol.dispose]()
      onLeft()
    }
  }

  /** Takes a case that waits, where there is a place for it. Resolves to whether it has. */
  const takeNext = () =>
    host.inTurn(async () => {
      const taken = running.size < most && host.refusal() === null ? await cases.take() : null
      if (taken !== null) void run(taken, host.slots.take(taken.agentId))
      return taken !== null
    })

  return {
    /** Stops what is not to run any more, and takes what waits, as long as there is a place for it. */
    async tend(): Promise<void> {
      if (running.size > 0) {
        const own = await cases.stillOwn(here())
        for (const [key, { stop }] of running) if (!own.has(key) || host.draining) stop.abort()
      }
      await cases.tend(here())
      while (await takeNext());
    },
  }
}
