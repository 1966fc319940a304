/**
 * `local.ts`, accelerated: through Redis or Valkey, instances wake each other to read the database at once, and a reply's
 * owner sends what it has stored to the instances that follow it. Everything is publish and subscribe, so Redis holds
 * nothing that could be lost. PostgreSQL keeps the leases and the truth.
 */
import type { Exchange } from '../../actors/ports/index.ts'
import type { Coordination } from '../coordination.ts'
import { createLocalCoordination, type LocalOptions } from '../local.ts'
import { createFollowers } from './followers.ts'
import { createMirrors } from './mirrors.ts'
import { openRedisChannel } from './redis-channel.ts'
import { encode } from './wire.ts'

export interface RedisCoordinationOptions extends LocalOptions {
  /** The address, parsed by `readRedisUrl`. */
  cacheUrl: string
}

const HEARTBEAT_MS = 200
const RENEW_MS = 2000
/** Longest time that a start waits for the first echo; then it continues, degraded. */
const FIRST_ECHO_MS = 2000

export function createRedisCoordination(options: RedisCoordinationOptions): Coordination {
  const local = createLocalCoordination(options)
  const { id, log } = options
  const channel = openRedisChannel(id, options.cacheUrl, log)
  let placeOf: Parameters<typeof createMirrors>[0]['placeOf'] = () => null
  const mirrors = createMirrors({
    send: channel.send,
    // An instance without a lease publishes nothing: its view of its replies may be stale.
    placeOf: (replyId) => (performance.now() < local.validUntil() ? placeOf(replyId) : null),
  })
  const followers = createFollowers({ id, send: channel.send })
  const timers: NodeJS.Timeout[] = []

  channel.subscribe({
    onMessage(message) {
      if (message.type === 'wake') local.wake()
      else if (message.type === 'follow') mirrors.follow(message.reply, message.from)
      else if (message.type === 'leave') mirrors.leave(message.reply, message.from)
      else if (message.type !== 'echo') followers.receive(message)
    },
    onRecovery: followers.renew,
  })
  const wake = (instanceIds: readonly string[]) => {
    for (const one of instanceIds) if (one !== id) channel.send(one, encode({ type: 'wake' }))
  }
  const exchange: Exchange = { wake, follow: followers.follow, stored: mirrors.stored, ended: mirrors.ended }

  return {
    ...local,
    exchange,
    cache: () => (channel.isHealthy() ? 'ok' : 'degraded'),
    async join() {
      await local.join()
      if (!(await channel.open(FIRST_ECHO_MS))) {
        log.warn({}, 'CACHE_URL: no response. Replies run on the database alone until there is one.')
      }
    },
    start(owned, duties) {
      placeOf = owned.placeOf
      local.start(owned, duties)
      timers.push(setInterval(mirrors.heartbeat, HEARTBEAT_MS), setInterval(followers.renew, RENEW_MS))
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await local.stop()
      channel.close()
    },
  }
}
