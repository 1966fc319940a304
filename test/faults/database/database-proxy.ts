/** A proxy between the service and PostgreSQL that can cut, refuse or swallow everything (real sockets). */
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'

export interface DatabaseProxy extends AsyncDisposable {
  /** The database's URL, through this proxy. */
  readonly url: string
  /** Connection attempts so far. */
  readonly attempts: number
  /** Forwards everything (as at the start). Connections swallowed before stay dead. */
  restore(): void
  /** Resets every connection, and each new one at once. */
  refuse(): void
  /** Accepts new connections and closes them cleanly at once, like a balancer without servers. */
  hangUp(): void
  /** Silently drops everything, on old and new connections. */
  swallow(): void
  /** A suspended database: data of both sides is held, and forwarded once this is restored. */
  stall(): void
  /** Open connections are swallowed for good; new ones work. Like a firewall that lost its state. */
  forget(): void
  /** Forwards to another server from now on. */
  retarget(databaseUrl: string): void
  /** Discards the response to the next request with this text, and cuts the connection instead. */
  cutAnswerTo(statement: string): Promise<void>
  /** Holds the response to the next request with this text, until this is restored. */
  holdAnswerTo(statement: string): Promise<void>
  /** Decides the fate of each chunk that the service sends from now on, by its connection; null when all pass. */
  judge(judge: Judge | null): void
  /** New connections are reset while this returns true. */
  refuseNew(isRefused: () => boolean): void
  /** Forwards what was held. Resolves when the server has finished its work and closed those connections. */
  deliver(): Promise<void>
}

/**
 * `drop`: the connection is cut, the server gets nothing. `cut before`: the same, and the client is told so as by a
 * pooler that restarts. `cut answer`: the server gets it, and the connection is cut
 * when it responds. `swallow answer`: the response is silently dropped. `hold answer`: it arrives once this is restored.
 * `hold`: the connection is cut, and `deliver` forwards the data to the server.
 */
export type Fate = 'pass' | 'drop' | 'cut before' | 'cut answer' | 'swallow answer' | 'hold answer' | 'hold'

export type Judge = (bytes: Buffer, connection: object) => Fate

interface Pair {
  client: Socket
  server: Socket
  dead: boolean
  /** Data not yet forwarded to the server. */
  held?: Buffer
}

/** The connections' behaviour, as set by the test. */
interface Wire {
  mode: 'pass' | 'refuse' | 'hang up' | 'swallow'
  /** Path of the server's socket. */
  target: string
  judge: Judge | null
  isRefused(): boolean
  isStalled: boolean
  pairs: Set<Pair>
}

/** `databaseUrl` names a Unix socket, as the test servers' do. */
export async function openProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const wire: Wire = {
    mode: 'pass',
    target: socketOf(databaseUrl),
    judge: null,
    isRefused: () => false,
    isStalled: false,
    pairs: new Set(),
  }
  const { pairs } = wire
  const clients = new Set<Socket>()
  let attempts = 0

  const proxy = createServer((client) => {
    attempts += 1
    clients.add(client)
    client.on('error', () => {})
    client.on('close', () => clients.delete(client))
    if (wire.mode === 'pass' && wire.isRefused()) client.resetAndDestroy()
    else if (wire.mode === 'pass') pass(wire, client)
    else if (wire.mode === 'refuse') client.resetAndDestroy()
    else if (wire.mode === 'hang up') client.end()
    else client.on('data', () => {})
  })
  const forget = () => {
    for (const pair of pairs) pair.dead = true
  }
  return {
    url: await listenFor(proxy, databaseUrl),
    get attempts() {
      return attempts
    },
    restore() {
      wire.mode = 'pass'
      stall(wire, false)
    },
    refuse() {
      wire.mode = 'refuse'
      for (const pair of pairs) cut(pair)
      for (const client of clients) client.resetAndDestroy()
    },
    hangUp() {
      wire.mode = 'hang up'
      for (const pair of pairs) cut(pair)
    },
    swallow() {
      wire.mode = 'swallow'
      forget()
    },
    stall: () => stall(wire, true),
    forget,
    retarget(url) {
      wire.target = socketOf(url)
    },
    cutAnswerTo(statement) {
      return new Promise((resolve) => {
        wire.judge = fateOf(wire, statement, 'cut answer', resolve)
      })
    },
    holdAnswerTo(statement) {
      return new Promise((resolve) => {
        wire.judge = fateOf(wire, statement, 'hold answer', resolve)
      })
    },
    judge(wanted) {
      wire.judge = wanted
    },
    refuseNew(wanted) {
      wire.isRefused = wanted
    },
    async deliver() {
      const held = [...pairs].filter((pair) => pair.held)
      await Promise.all(
        held.map(async (pair) => {
          const closed = once(pair.server, 'close')
          if (pair.held) pair.server.end(pair.held)
          await closed
        }),
      )
    },
    async [Symbol.asyncDispose]() {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      for (const client of clients) client.destroy()
      const closed = once(proxy, 'close')
      proxy.close()
      await closed
    },
  }
}

/** Judges only the next request that contains this text. */
function fateOf(wire: Wire, statement: string, fate: Fate, judged: () => void): Wire['judge'] {
  return (bytes) => {
    if (!bytes.includes(statement)) return 'pass'
    wire.judge = null
    judged()
    return fate
  }
}

/** Connects a client to the server. */
function pass(wire: Wire, client: Socket): void {
  const server = createConnection(wire.target)
  const pair: Pair = { client, server, dead: false }
  let answer: Fate = 'pass'
  wire.pairs.add(pair)
  if (wire.isStalled) hold(pair, true)
  client.on('data', (bytes) => {
    if (pair.dead) return
    const fate = wire.judge?.(bytes, pair) ?? 'pass'
    if (fate === 'drop') return cut(pair)
    if (fate === 'cut before') return cutBefore(pair)
    if (fate === 'hold') return keep(pair, bytes)
    if (fate === 'hold answer') server.pause()
    else if (fate !== 'pass') answer = fate
    server.write(bytes)
  })
  server.on('data', (bytes) => {
    if (pair.dead) return
    if (answer === 'pass') client.write(bytes)
    else if (answer === 'cut answer') cut(pair)
  })
  server.on('error', () => client.destroy())
  server.on('close', () => {
    wire.pairs.delete(pair)
    if (!pair.dead) client.end()
  })
  client.on('close', () => {
    if (!pair.held) server.destroy()
  })
}

function keep(pair: Pair, bytes: Buffer): void {
  pair.held = bytes
  pair.dead = true
  pair.client.resetAndDestroy()
}

function stall(wire: Wire, isStalled: boolean): void {
  wire.isStalled = isStalled
  for (const pair of wire.pairs) hold(pair, isStalled)
}

function hold({ client, server }: Pair, isHeld: boolean): void {
  for (const socket of [client, server]) {
    if (isHeld) socket.pause()
    else socket.resume()
  }
}

/** Ends a connection like a server that is told to. */
function cutBefore(pair: Pair): void {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '']
  const body = Buffer.from(`${fields.join('\0')}\0`)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  pair.dead = true
  pair.client.end(Buffer.concat([Buffer.from('E'), length, body]))
  pair.server.end()
}

function cut(pair: Pair): void {
  pair.dead = true
  pair.client.resetAndDestroy()
  // The server finishes what it has received.
  pair.server.end()
}

/** The database's URL, through the proxy. */
async function listenFor(proxy: Server, databaseUrl: string): Promise<string> {
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port)
  return url.href
}

function socketOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl)
  return `${decodeURIComponent(hostname)}/.s.PGSQL.${port || '5432'}`
}
