/** This instance's channel on Redis or Valkey: its connections, and whether messages get through. */
import type { LocalOptions } from '../local.ts'
import { connectRedis, type RedisClient } from './redis-client.ts'
import { decode, encode, type Message } from './wire.ts'

const ECHO_MS = 500
/** More often at first: a start waits for the first echo. */
const FIRST_ECHO_INTERVAL_MS = 20
/** Longest time without its own echo before readiness is `degraded`. */
const DEGRADED_MS = 1500
/** Longest time without its own echo before it reconnects: a hung connection does not report an error. */
const RECONNECT_MS = 5000
/** Characters in flight to a slow Redis. Beyond it messages are dropped, and readers poll the database. */
const MAX_IN_FLIGHT = 8 << 20

const ECHO = encode({ type: 'echo' })

const channelOf = (instanceId: string): string => `greenroom:${instanceId}`

export interface ChannelSubscriber {
  onMessage(message: Message): void
  /** Announces that messages get through again. */
  onRecovery(): void
}

export function openRedisChannel(id: string, url: string, log: LocalOptions['log']) {
  let subscriber: ChannelSubscriber = { onMessage() {}, onRecovery() {} }
  let timer: NodeJS.Timeout | undefined
  let onEcho = () => {}

  const connections = createConnections(id, url, {
    onText(text) {
      const message = decode(text)
      if (message?.type === 'echo') {
        health.echoed()
        onEcho()
      }
      if (message) subscriber.onMessage(message)
    },
    onError(err) {
      // One warning for each outage, not for each attempt.
      if (health.isHealthy()) log.warn({ err }, 'Redis or Valkey cannot be reached.')
    },
  })
  const echo = () => connections.send(id, ECHO)
  const health = createHealthCheck(log, {
    echo,
    reconnect: connections.reconnect,
    onRecovery: () => subscriber.onRecovery(),
  })

  return {
    /** Publishes to an instance's channel. Delivered at most once. */
    send: connections.send,
    /** True if this instance receives its own messages. */
    isHealthy: health.isHealthy,
    /** Replaces the subscriber. */
    subscribe(one: ChannelSubscriber): void {
      subscriber = one
    },
    /** Connects. Resolves to true on the first echo, to false without one within `ms`. Keeps trying either way. */
    async open(ms: number): Promise<boolean> {
      connections.connect()
      health.started()
      timer = setInterval(health.check, ECHO_MS)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const limit = setTimeout(resolve, ms, false)
      const echoes = setInterval(echo, FIRST_ECHO_INTERVAL_MS)
      onEcho = () => resolve(true)
      const answered = await promise
      clearTimeout(limit)
      clearInterval(echoes)
      onEcho = () => {}
      health.check()
      return answered
    },
    close(): void {
      clearInterval(timer)
      connections.disconnect()
    },
  }
}

/** Opens one connection for publishing, one for subscribing. */
function createConnections(
  id: string,
  url: string,
  { onText, onError }: { onText(text: string): void; onError(error: Error): void },
) {
  let publisher: RedisClient | null = null
  let subscriber: RedisClient | null = null
  let inFlight = 0

  function connect(): void {
    publisher = connectRedis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0 }, onError)
    const client = connectRedis(url, { enableOfflineQueue: true, maxRetriesPerRequest: null }, onError)
    client.on('message', (_channel: string, text: string) => onText(text))
    // If there is no answer, no echo arrives, and the health check reconnects.
    client.on('ready', () => client.subscribe(channelOf(id)).catch(() => {}))
    subscriber = client
  }

  function disconnect(): void {
    publisher?.disconnect()
    subscriber?.disconnect()
  }

  return {
    connect,
    disconnect,
    reconnect(): void {
      disconnect()
      connect()
    },
    send(instanceId: string, text: string): void {
      if (publisher?.status !== 'ready' || inFlight > MAX_IN_FLIGHT) return
      inFlight += text.length
      const settled = () => {
        inFlight -= text.length
      }
      publisher.publish(channelOf(instanceId), text).then(settled, settled)
    },
  }
}

/** Creates the health check: healthy while echoes arrive; reconnects when none has arrived for long. */
function createHealthCheck(
  log: LocalOptions['log'],
  { echo, reconnect, onRecovery }: { echo(): void; reconnect(): void; onRecovery(): void },
) {
  let echoedAt = Number.NEGATIVE_INFINITY
  let connectedAt = 0
  let isHealthy = false
  return {
    isHealthy: () => isHealthy,
    started(): void {
      connectedAt = performance.now()
    },
    echoed(): void {
      echoedAt = performance.now()
    },
    check(): void {
      echo()
      const silentMs = performance.now() - echoedAt
      const wasHealthy = isHealthy
      isHealthy = silentMs < DEGRADED_MS
      if (isHealthy && !wasHealthy) {
        log.info({}, 'Redis or Valkey answers.')
        onRecovery()
      }
      if (!isHealthy && wasHealthy) log.warn({}, 'Redis or Valkey does not answer: replies run on the database alone.')
      if (silentMs > RECONNECT_MS && performance.now() - connectedAt > RECONNECT_MS) {
        connectedAt = performance.now()
        reconnect()
      }
    },
  }
}
