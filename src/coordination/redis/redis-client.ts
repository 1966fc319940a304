/** Connections to Redis or Valkey that reconnect by themselves. */
import { Cluster, Redis } from 'ioredis'
import { readRedisUrl } from './redis-address.ts'

export type RedisClient = Redis | Cluster

export interface RedisBehaviour {
  /** Attempts for each command. Null: commands wait for as long as the server is unavailable. */
  maxRetriesPerRequest: number | null
  /** A queue for commands while the server is unavailable. If false, commands fail at once. */
  enableOfflineQueue: boolean
}

/** Returns the delay of a reconnect in milliseconds: immediate at first, then twice a second. */
const backOff = (times: number): number => Math.min(25 * 2 ** Math.min(times, 5), 500)

/**
 * Opens a connection that reconnects by itself; subscribers subscribe again at each `ready`. Errors go to `onError`;
 * an unavailable server throws nothing.
 */
export function connectRedis(url: string, behaviour: RedisBehaviour, onError: (error: Error) => void): RedisClient {
  const { kind, hosts, username, password, tls, name, db, sentinelPassword } = readRedisUrl(url)
  const [first] = hosts
  const { enableOfflineQueue, maxRetriesPerRequest } = behaviour
  const common = {
    connectTimeout: 2000,
    // Given the third, ioredis takes a server's refusal for one of a password, and prints so at each attempt.
    protocol: 2 as const,
    maxRetriesPerRequest,
    // ioredis handles no failure of its own SUBSCRIBE: a connection closed before the answer would end the process.
    autoResubscribe: false,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls && { tls: kind === 'single' && first ? { servername: first.host } : {} }),
  }
  const client = open()
  client.on('error', onError)
  return client

  function open(): RedisClient {
    if (kind === 'cluster') {
      return new Cluster(hosts, { redisOptions: common, enableOfflineQueue, clusterRetryStrategy: backOff })
    }
    if (kind === 'sentinel') {
      return new Redis({
        ...common,
        db,
        enableOfflineQueue,
        retryStrategy: backOff,
        sentinelRetryStrategy: backOff,
        sentinels: hosts,
        name: name ?? '',
        enableTLSForSentinelMode: tls,
        ...(tls && { sentinelTLS: {} }),
        ...(sentinelPassword !== null && { sentinelPassword }),
      })
    }
    return new Redis({ ...common, ...first, db, enableOfflineQueue, retryStrategy: backOff })
  }
}
