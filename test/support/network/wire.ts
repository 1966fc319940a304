/** A proxy between a program and a server, with the faults of a network (real sockets). No vitest: chaos runs without it. */
import { once } from 'node:events'
import { createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface Wire extends AsyncDisposable {
  /** The port on which it listens, on 127.0.0.1. */
  port: number
  /** Forwards everything, on stalled connections too; swallowed or deafened ones stay dead. */
  pass(): void
  /** Resets every connection, and each new one at once. */
  refuse(): void
  /** Accepts new connections and drops everything in both directions. */
  blackhole(): void
  /** Forwards requests and drops the responses. */
  deafen(): void
  /** Holds everything until it is forwarded again. */
  stall(): void
  /** Delays each chunk by so long (milliseconds), in both directions. */
  slow(ms: number): void
  /** Leads new connections to another server. Open ones stay, but the first `cut` of them are reset. */
  lead(to: NetConnectOpts, cut: number): void
}

type Mode = 'pass' | 'refuse' | 'blackhole' | 'deaf' | 'stall'

interface Pair {
  client: Socket
  server: Socket
  fate: 'alive' | 'deaf' | 'dead'
}

export async function openWire(first: NetConnectOpts): Promise<Wire> {
  let target = first
  const pairs = new Set<Pair>()
  const loose = new Set<Socket>()
  let mode: Mode = 'pass'
  let delayMs = 0

  function join(client: Socket): void {
    const pair: Pair = { client, server: createConnection(target), fate: mode === 'deaf' ? 'deaf' : 'alive' }
    const { server } = pair
    pairs.add(pair)
    const ask = later(server, () => delayMs)
    const answer = later(client, () => delayMs)
    client.on('data', (bytes) => pair.fate !== 'dead' && ask(bytes))
    server.on('data', (bytes) => pair.fate === 'alive' && answer(bytes))
    server.on('error', () => client.destroy())
    server.on('close', () => {
      pairs.delete(pair)
      if (pair.fate === 'alive') client.end()
    })
    client.on('close', () => server.destroy())
    if (mode === 'stall') hold(pair, true)
  }
  const proxy = createServer((client) => {
    loose.add(client)
    client.on('error', () => {})
    client.on('close', () => loose.delete(client))
    if (mode === 'refuse') client.resetAndDestroy()
    else if (mode === 'blackhole') client.on('data', () => {})
    else join(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  const change = (to: Mode, fate: Pair['fate'] | null) => {
    mode = to
    delayMs = 0
    for (const pair of pairs) {
      if (fate !== null && pair.fate !== 'dead') pair.fate = fate
      hold(pair, to === 'stall')
    }
  }
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    pass: () => change('pass', null),
    refuse() {
      change('refuse', 'dead')
      for (const socket of loose) socket.resetAndDestroy()
    },
    blackhole: () => change('blackhole', 'dead'),
    deafen: () => change('deaf', 'deaf'),
    stall: () => change('stall', null),
    slow(ms) {
      change('pass', null)
      delayMs = ms
    },
    lead(to, cut) {
      target = to
      for (const { client } of [...pairs].slice(0, cut)) client.resetAndDestroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of loose) socket.destroy()
      for (const { server } of pairs) server.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

function hold({ client, server }: Pair, isHeld: boolean): void {
  for (const socket of [client, server]) {
    if (isHeld) socket.pause()
    else socket.resume()
  }
}

/** Writes in order, each chunk at its own time. */
function later(to: Socket, delayMs: () => number): (bytes: Buffer) => void {
  const waiting: { at: number; bytes: Buffer }[] = []
  const send = () => {
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const left = first.at - performance.now()
      if (left > 0) return void setTimeout(send, left)
      waiting.shift()
      if (!to.destroyed) to.write(first.bytes)
    }
  }
  return (bytes) => {
    const at = Math.max(performance.now() + delayMs(), waiting.at(-1)?.at ?? 0)
    waiting.push({ at, bytes })
    if (waiting.length === 1) send()
  }
}
