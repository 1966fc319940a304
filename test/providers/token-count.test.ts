/** The tokenizer's estimate that stands in for a missing usage report: contract section 3. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import {
  createTokenCounter,
  shareTokenCounter,
  startTokenWorker,
  type TokenCounterOptions,
  warnUncounted,
} from '../../src/providers/tokens/token-count.ts'

const patient = { deadlineMs: 20_000 }

/** A counter, the threads that it started, and what it said of them. */
function open(options: TokenCounterOptions = {}) {
  const workers: Worker[] = []
  const faults: unknown[] = []
  const start = () => {
    const worker = (options.start ?? startTokenWorker)()
    workers.push(worker)
    return worker
  }
  const counter = createTokenCounter({ ...patient, onFault: (error) => faults.push(error), ...options, start })
  onTestFinished(() => counter[Symbol.asyncDispose]())
  const newest = () => workers.at(-1) ?? expect.unreachable('no thread was started')
  return {
    count: counter.count,
    expected: counter.expect,
    close: () => counter[Symbol.asyncDispose](),
    workers,
    faults,
    newest,
  }
}

/** A thread of another program, for what the real one never does. */
const thread = (program: string) => () =>
  new Worker(`const { parentPort } = require("node:worker_threads"); ${program}; parentPort.postMessage("ready")`, {
    eval: true,
    execArgv: [],
  })
const dead = thread('throw new Error("dead on arrival")')
const mute = thread('parentPort.on("message", () => {})')

const sevens = thread(`
  parentPort.on("message", ({ texts }) => parentPort.postMessage(texts.map(() => 7)))`)

const sentence = 'The quick brown fox jumps over the lazy dog. '

test('texts are counted together, as the encoder counts them', async () => {
  const { count, workers } = open()
  expect(
    await count(['', 'hello world', sentence.trim(), '漢字とひらがな', '👩‍👩‍👧 naïve', '{"a": [1, 2.5]}\n\n\t']),
  ).toEqual([0, 2, 10, 7, 10, 13])
  expect(await Promise.all([count(['a']), count([]), count(['b', 'hello world'])])).toEqual([[1], [], [1, 2]])
  expect(workers).toHaveLength(1)
})

test('special tokens are text', async () => {
  const [tokens] = await open().count(['<|endoftext|>'])
  expect(tokens).toBeGreaterThan(1)
})

test('words are counted exactly over the seams; long texts nearly', async () => {
  const [exact, long = 0] = await open().count([sentence.repeat(180), sentence.repeat(20_000)])
  expect(exact).toBe(180 * 10 + 1) // and the space at the end
  expect(Math.abs(long / 200_000 - 1)).toBeLessThan(0.1)
})

// Taken whole, each of these would run for minutes: the deadline would leave 1,048,576 of each.
test.each([
  ['one letter', 'a'],
  ['one space', ' '],
  ['one ideograph', '漢'],
  ['half a pair', '\ud83d'],
])('four megabytes of %s are counted', async (_, character) => {
  const [tokens] = await open().count([character.repeat(4 * 1024 * 1024)])
  expect(tokens).toBeGreaterThan(0)
  expect(tokens).not.toBe(1024 * 1024)
})

test('no thread is started before something is to be counted', async () => {
  const { count, close, workers } = open()
  expect(await count([])).toEqual([])
  await close()
  expect(workers).toEqual([])
})

test('a count that is expected finds its thread, and is the only one to have one', async () => {
  const { count, expected, close, workers } = open()
  expected()
  expected()
  expect(workers).toHaveLength(1)
  expect(await count(['hello world'])).toEqual([2])
  expect(workers).toHaveLength(1)
  await close()
  expected()
  expect(workers).toHaveLength(1)
})

test('a thread that is expected and cannot start is told of, and fails nothing', async () => {
  const { expected, faults } = open({
    start: () => {
      throw new Error('no threads left')
    },
  })
  expected()
  expect(faults).toEqual([new Error('no threads left')])
})

test('a thread that ends in the middle leaves a token for four characters; the next count has a new one', async () => {
  const { count, workers, faults, newest } = open()
  const counts = Promise.all([count(['hello world']), count(['', 'x'])])
  await newest().terminate()
  expect(await counts).toEqual([[3], [0, 1]])
  expect(faults).toHaveLength(1)
  expect(await count(['hello world'])).toEqual([2])
  expect(workers).toHaveLength(2)
})

test('a thread that cannot start fails no count, is tried again each time, and told of once', async () => {
  const { count, workers, faults } = open({ start: dead })
  expect(await count(['hello world'])).toEqual([3])
  expect(await count(['hello world'])).toEqual([3])
  expect([workers.length, faults.length]).toEqual([2, 1])
  const refused = open({
    start() {
      throw new Error('no more threads')
    },
  })
  expect(await refused.count(['hello world'])).toEqual([3])
  expect(refused.faults).toHaveLength(1)
})

test('a thread that says nothing is waited for until the deadline, and replaced when it is silent for long', async () => {
  let start = mute
  const { count, faults, newest } = open({ start: () => start(), deadlineMs: 100, idleMs: 1000 })
  expect(await Promise.all([count(['hello world']), count(['hi'])])).toEqual([[3], [1]])
  expect(faults).toEqual([])
  start = sevens
  // Asked all the time, it would never be idle.
  const exit = once(newest(), 'exit')
  await expect.poll(() => count(['hello world'])).toEqual([7])
  await exit
  expect(faults).not.toEqual([])
})

test('a thread that is not ready in time is one warning, which says what is counted instead, without a stack', async () => {
  const lines: unknown[] = []
  const onFault = warnUncounted({ warn: (...line) => lines.push(line) })
  const start = () => new Worker('setInterval(() => {}, 1000)', { eval: true, execArgv: [] })
  const { count } = open({ start, startMs: 50, onFault })
  expect([await count(['hello world']), await count(['hello'])]).toEqual([[3], [2]])
  expect(lines).toEqual([
    [
      { reason: 'Error: The worker was not ready within 50 ms.' },
      'Tokens could not be counted: four characters count as one.',
    ],
  ])
})

test('the thread goes when nothing is asked for a while, and comes back', async () => {
  const { count, workers, faults, newest } = open({ start: sevens, idleMs: 1000 })
  expect(await count(['hello world'])).toEqual([7])
  await once(newest(), 'exit')
  expect(await count(['hello world'])).toEqual([7])
  expect([workers.length, faults]).toEqual([2, []])
})

test('what the thread had no time for is judged by length', async () => {
  const start = thread('parentPort.on("message", () => parentPort.postMessage([7]))')
  expect(await open({ start }).count(['first', 'second', ''])).toEqual([7, 2, 0])
})

test('closed, it answers who waits and who still asks, and has no thread', async () => {
  const { count, close, workers, faults, newest } = open()
  const counting = count(['hello world'])
  const exit = once(newest(), 'exit')
  await close()
  await exit
  expect(await Promise.all([counting, count(['hello world'])])).toEqual([[3], [3]])
  expect([workers.length, faults]).toEqual([1, []])
})

test('who shares a counter shares its thread; who has left estimates, and ends it for nobody', async () => {
  let started = 0
  const note = () => {
    started += 1
  }
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  const [one, other] = [shareTokenCounter(), shareTokenCounter()]
  for (const each of [one, other]) await expect.poll(() => each.count(['hello world'])).toEqual([2])
  await one[Symbol.asyncDispose]()
  expect(await one.count(['hello world'])).toEqual([3])
  await expect.poll(() => other.count(['hello world'])).toEqual([2])
  expect(started).toBe(1)
  const open = other.count([sentence.repeat(20_000)])
  await other[Symbol.asyncDispose]()
  expect(await open).toEqual([sentence.length * 5000])
})
