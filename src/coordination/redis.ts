/**
 * The same as `local.ts`, and faster: through Redis or Valkey instances wake each other to read the database at once, and
 * the owner of a reply sends what it has stored to the instances that follow it. Redis holds nothing: all goes by publish
 * and subscribe, so there is nothing to lose in it. Leases and what is true stay PostgreSQL's.
 */
import type { Exchange } from '../actors/ports.ts'
import { collectReports } from './actor-reports.ts'
import type { Coordination } from './coordination.ts'
import { createFollowers } from './followers.ts'
import { createLocalCoordination, type LocalOptions } from './local.ts'
import { createMirrors } from './mirrors.ts'
import { connectRedis, type RedisClient } from './redis-client.ts'
import { decode, encode, type Message } from './wire.ts'

export interface RedisCoordinationOptions extends LocalOptions {
  /** As `readRedisUrl` takes it. */
  cacheUrl: string
}

const HEARTBEAT_MS = 200
const RENEW_MS = 2000
const ECHO_MS = 500
/** Without its own echo for so long, readiness says `degraded`. */
const DEGRADED_MS = 1500
/** Without its own echo for so long the connections are made anew: one that hangs says nothing of its end. */
const RENEWAL_MS = 5000
/** How long a start waits for the first echo; then it goes on, degraded. */
const FIRST_ECHO_MS = 2000
/** Characters on their way to a Redis that is slow; what comes beyond is not sent, its readers ask the database. */
const MAX_ON_THE_WAY = 8 << 20

const channelOf = (instanceId: string): string => `greenroom:${instanceId}`

export function createRedisCoordination(options: RedisCoordinationOptions): Coordination {
  const local = createLocalCoordination(options)
  const { id, log } = options
  const line = openLine(id, options.cacheUrl, log)
  let placeOf: Parameters<typeof createMirrors>[0]['placeOf'] = () => null
  const mirrors = createMirrors({
    send: line.send,
    // Without a lease it announces nothing: what it knows of its replies may be wrong by now.
    placeOf: (replyId) => (performance.now() < local.validUntil() ? placeOf(replyId) : null),
  })
  const followers = createFollowers({ id, send: line.send })
  const timers: NodeJS.Timeout[] = []

  line.listen({
    received(message) {
      if (message.say === 'look') local.wake()
      else if (message.say === 'follow') mirrors.follow(message.reply, message.from)
      else if (message.say === 'leave') mirrors.leave(message.reply, message.from)
      else if (message.say !== 'echo') followers.receive(message)
    },
    back: followers.renew,
  })
  const wake = (instanceIds: readonly string[]) => {
    for (const one of instanceIds) if (one !== id) line.send(one, encode({ say: 'look' }))
  }
  const exchange: Exchange = { wake, follow: followers.follow, stored: mirrors.stored, ended: mirrors.ended }

  return {
    ...local,
    exchange,
    cache: () => (line.isWell() ? 'ok' : 'degraded'),
    async join() {
      await local.join()
      if (!(await line.open(FIRST_ECHO_MS))) {
        log.warn({}, 'CACHE_URL: does not answer. Replies run on the database alone until it does.')
      }
    },
    start(owned, tick) {
      placeOf = owned.placeOf
      local.start(owned, tick)
      timers.push(setInterval(mirrors.heartbeat, HEARTBEAT_MS), setInterval(followers.renew, RENEW_MS))
    },
    reports: () => collectReports(options.work, id, wake),
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await local.stop()
      line.close()
    },
  }
}

interface Listener {
  received(message: Message): void
  /** Messages get through again. */
  back(): void
}

/** This instance's two connections: one to publish, one to subscribe. Each message is sent at most once, or not at all. */
function openLine(id: string, url: string, log: LocalOptions['log']) {
  let publisher: RedisClient | null = null
  let subscriber: RedisClient | null = null
  let listener: Listener = { received() {}, back() {} }
  let onTheWay = 0
  let echoedAt = Number.NEGATIVE_INFINITY
  let isWell = false
  let remadeAt = 0
  let pulse: NodeJS.Timeout | undefined
  let firstEcho = () => {}

  function connect(): void {
    // One warning for each outage, not one for each attempt.
    const onError = (err: Error) => {
      if (isWell) log.warn({ err }, 'Redis or Valkey cannot be reached.')
    }
    remadeAt = performance.now()
    publisher = connectRedis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0 }, onError)
    subscriber = connectRedis(url, { enableOfflineQueue: true, maxRetriesPerRequest: null }, onError)
    subscriber.on('message', (_channel: string, text: string) => receive(text))
    subscriber.subscribe(channelOf(id)).catch(() => {}) // asked again with each new connection
  }

  function disconnect(): void {
    publisher?.disconnect()
    subscriber?.disconnect()
  }

  function receive(text: string): void {
    const message = decode(text)
    if (message?.say === 'echo') {
      echoedAt = performance.now()
      firstEcho()
    }
    if (message) listener.received(message)
  }

  function send(instanceId: string, text: string): void {
    if (publisher?.status !== 'ready' || onTheWay > MAX_ON_THE_WAY) return
    onTheWay += text.length
    const arrived = () => {
      onTheWay -= text.length
    }
    publisher.publish(channelOf(instanceId), text).then(arrived, arrived)
  }

  function check(): void {
    send(id, encode({ say: 'echo' }))
    const silentMs = performance.now() - echoedAt
    const wasWell = isWell
    isWell = silentMs < DEGRADED_MS
    if (isWell && !wasWell) {
      log.info({}, 'Redis or Valkey answers.')
      listener.back()
    }
    if (!isWell && wasWell) log.warn({}, 'Redis or Valkey does not answer: replies run on the database alone.')
    if (silentMs > RENEWAL_MS && performance.now() - remadeAt > RENEWAL_MS) {
      disconnect()
      connect()
    }
  }

  return {
    send,
    isWell: () => isWell,
    listen(one: Listener): void {
      listener = one
    },
    /** False: no echo within `ms`. */
    async open(ms: number): Promise<boolean> {
      connect()
      pulse = setInterval(check, ECHO_MS)
      const first = new Promise<boolean>((resolve) => {
        const timer = setTimeout(resolve, ms, false)
        firstEcho = () => {
          clearTimeout(timer)
          resolve(true)
        }
      })
      const greet = setInterval(() => send(id, encode({ say: 'echo' })), 20)
      const answered = await first
      clearInterval(greet)
      firstEcho = () => {}
      check()
      return answered
    },
    close(): void {
      clearInterval(pulse)
      disconnect()
    },
  }
}
