/** The wires of the chaos runs fail as they say. */
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openWire, type Wire } from '../support/network/wire.ts'

let server: Server
let wire: Wire
let heard: string
beforeEach(async () => {
  heard = ''
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard += bytes
      socket.write(`${bytes}!`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  wire = await openWire({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
})
afterEach(async () => {
  await wire[Symbol.asyncDispose]()
  server.close()
})

interface Caller {
  socket: Socket
  answers(): string
  isCut(): boolean
}

async function call(): Promise<Caller> {
  const socket = createConnection({ host: '127.0.0.1', port: wire.port })
  let answers = ''
  let isCut = false
  socket.on('data', (bytes) => {
    answers += bytes
  })
  socket.on('error', () => {
    isCut = true
  })
  await once(socket, 'connect')
  return { socket, answers: () => answers, isCut: () => isCut }
}

/** One whose first word was answered. */
async function talking(): Promise<Caller> {
  const caller = await call()
  caller.socket.write('a')
  await expect.poll(caller.answers).toBe('a!')
  return caller
}

test('refuse: old connections are reset, new ones too', async () => {
  const old = await talking()
  wire.refuse()
  await expect.poll(old.isCut).toBe(true)
  const late = await call().catch(() => null) // it may be reset before it knows that it was connected
  if (late) await expect.poll(late.isCut).toBe(true)
  wire.pass()
  await talking()
})

test('blackhole: nothing arrives, nobody is cut, and what was swallowed stays dead', async () => {
  const old = await talking()
  wire.blackhole()
  const late = await call()
  for (const { socket } of [old, late]) socket.write('b')
  wire.pass()
  old.socket.write('c')
  await talking() // whatever was on its way would have come before
  expect([heard, old.answers(), late.answers(), old.isCut()]).toEqual(['aa', 'a!', '', false])
})

test('deafen: all arrives, no answer comes back', async () => {
  const old = await talking()
  wire.deafen()
  const late = await call()
  old.socket.write('b')
  await expect.poll(() => heard).toBe('ab')
  late.socket.write('c')
  await expect.poll(() => heard).toBe('abc')
  wire.pass()
  await talking()
  expect([old.answers(), late.answers()]).toEqual(['a!', ''])
})

test('stall: all comes once it passes again', async () => {
  const old = await talking()
  wire.stall()
  const late = await call()
  old.socket.write('b')
  late.socket.write('c')
  wire.pass()
  await expect.poll(old.answers).toBe('a!b!')
  await expect.poll(late.answers).toBe('c!')
})

test('slow: all comes in its order, also what follows when it is fast again', async () => {
  const { socket, answers } = await talking()
  const direct = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  const loop = async () => {
    direct.write('-')
    await once(direct, 'data')
  }
  wire.slow(300)
  socket.write('b')
  for (let turns = 0; turns < 3; turns++) await loop() // the wire has it
  expect(heard.replaceAll('-', '')).toBe('a')
  wire.pass()
  socket.write('c')
  await expect.poll(answers).toMatch(/c!$/)
  expect(heard.replaceAll('-', '')).toBe('abc')
  direct.destroy()
})
