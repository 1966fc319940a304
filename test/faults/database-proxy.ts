/** A wire between the service and PostgreSQL that can be cut, refuse, or swallow everything (real sockets). */
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

export interface DatabaseProxy extends AsyncDisposable {
  /** The database's URL, through this wire. */
  readonly url: string
  /** Connections that were asked for so far. */
  readonly attempts: number
  /** Passes everything on (as at the start). Connections swallowed before stay dead. */
  restore(): void
  /** Resets every connection, and each new one at once. */
  refuse(): void
  /** Accepts new connections and hangs up in good order before a word, as a balancer without servers does. */
  hangUp(): void
  /** Nothing comes through any more, on old and new connections; nobody is told. */
  swallow(): void
  /** What is open now is swallowed for good; new connections work. A firewall that forgot us. */
  forget(): void
  /** Passes on to another server from now on. */
  retarget(databaseUrl: string): void
  /** Takes the server's next answer that has this text in its request, cuts the connection instead. */
  cutAnswerTo(statement: string): Promise<void>
  /** Decides what becomes of each piece that the service sends from now on; null: all pass. */
  judge(judge: ((bytes: Buffer) => Fate) | null): void
  /** New connections are reset while this says so. */
  refuseNew(isRefused: () => boolean): void
  /** Passes on what was held. Resolves when the server has ended those connections, its work done. */
  deliver(): Promise<void>
}

/**
 * `drop`: the connection is cut, the server gets nothing. `cut answer`: it gets all, and the connection is cut when it
 * answers. `swallow answer`: likewise, without a word. `hold`: cut, and `deliver` brings it to the server.
 */
export type Fate = 'pass' | 'drop' | 'cut answer' | 'swallow answer' | 'hold'

interface Pair {
  client: Socket
  server: Socket
  dead: boolean
  /** What the server has not been given yet. */
  held?: Buffer
}

/** `databaseUrl` names a Unix socket, as the test servers' do. */
export async function openProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let mode: 'pass' | 'refuse' | 'hang up' | 'swallow' = 'pass'
  let target = socketOf(databaseUrl)
  let attempts = 0
  let judge: ((bytes: Buffer) => Fate) | null = null
  let isRefused = () => false
  const pairs = new Set<Pair>()
  const open = new Set<Socket>()

  function pass(client: Socket): void {
    const server = createConnection(target)
    const pair: Pair = { client, server, dead: false }
    let answer: Fate = 'pass'
    pairs.add(pair)
    client.on('data', (bytes) => {
      if (pair.dead) return
      const fate = judge?.(bytes) ?? 'pass'
      if (fate === 'drop') return cut(pair)
      if (fate === 'hold') return hold(pair, bytes)
      if (fate !== 'pass') answer = fate
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (pair.dead) return
      if (answer === 'pass') client.write(bytes)
      else if (answer === 'cut answer') cut(pair)
    })
    server.on('error', () => client.destroy())
    server.on('close', () => {
      pairs.delete(pair)
      if (!pair.dead) client.end()
    })
    client.on('close', () => {
      if (!pair.held) server.destroy()
    })
  }

  const hold = (pair: Pair, bytes: Buffer) => {
    pair.held = bytes
    pair.dead = true
    pair.client.resetAndDestroy()
  }

  const cut = (pair: Pair) => {
    pair.dead = true
    pair.client.resetAndDestroy()
    // The server ends its work in order: what it had in hand is done.
    pair.server.end()
  }

  const proxy = createServer((client) => {
    attempts += 1
    open.add(client)
    client.on('error', () => {})
    client.on('close', () => open.delete(client))
    if (mode === 'pass' && isRefused()) client.resetAndDestroy()
    else if (mode === 'pass') pass(client)
    else if (mode === 'refuse') client.resetAndDestroy()
    else if (mode === 'hang up') client.end()
    else client.on('data', () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')

  const wire = new URL(databaseUrl)
  wire.hostname = '127.0.0.1'
  wire.port = String((proxy.address() as AddressInfo).port)
  const killAll = () => {
    for (const pair of pairs) pair.dead = true
  }
  return {
    url: wire.href,
    get attempts() {
      return attempts
    },
    restore() {
      mode = 'pass'
    },
    refuse() {
      mode = 'refuse'
      for (const pair of pairs) cut(pair)
      for (const socket of open) socket.resetAndDestroy()
    },
    hangUp() {
      mode = 'hang up'
      for (const pair of pairs) cut(pair)
    },
    swallow() {
      mode = 'swallow'
      killAll()
    },
    forget: killAll,
    retarget(url) {
      target = socketOf(url)
    },
    cutAnswerTo(statement) {
      return new Promise((resolve) => {
        judge = (bytes) => {
          if (!bytes.includes(statement)) return 'pass'
          judge = null
          resolve()
          return 'cut answer'
        }
      })
    },
    judge(wanted) {
      judge = wanted
    },
    refuseNew(wanted) {
      isRefused = wanted
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
      for (const socket of open) socket.destroy()
      const closed = once(proxy, 'close')
      proxy.close()
      await closed
    },
  }
}

function socketOf(databaseUrl: string): string {
  const { hostname, port } = new URL(databaseUrl)
  return `${decodeURIComponent(hostname)}/.s.PGSQL.${port || '5432'}`
}
