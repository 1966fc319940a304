/**
 * One clock for everything in this process: timers and `performance.now` are ours while it is installed. Time stands still
 * while code runs and then jumps to the next timer, so that a minute of three instances takes milliseconds.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A simulated process. Its timers wait while it is paused, and never come once it is dead. */
export interface SimulatedProcess {
  name: string
  isDead: boolean
  pausedUntil: number
}

class Timer {
  at: number
  readonly order: number
  readonly process: SimulatedProcess | undefined
  /** It is null once the timer is cleared. */
  run: (() => void) | null
  readonly everyMs: number | null
  constructor(
    at: number,
    order: number,
    process: SimulatedProcess | undefined,
    run: () => void,
    everyMs: number | null,
  ) {
    this.at = at
    this.order = order
    this.process = process
    this.run = run
    this.everyMs = everyMs
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return false
  }
}

export interface VirtualTime extends Disposable {
  now(): number
  /** Calls `work` after `ms`, as a part of `process`; undefined stands for the world outside, which never stops. */
  after(ms: number, process: SimulatedProcess | undefined, work: () => void): void
  /** Runs `work` as a part of `process`: its timers belong to it. */
  within<T>(process: SimulatedProcess, work: () => T): T
  /** Lets all happen that happens until then. */
  runUntil(time: number): Promise<void>
}

/** Lets every promise that can go on do so: a tick comes when no microtask is left, without a turn of the event loop. */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve))

export function installVirtualTime(): VirtualTime {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval }
  const current = new AsyncLocalStorage<SimulatedProcess>()
  const queue = createQueue()
  /** What enters a process: a context each, made once. Anew for each timer they took a fifth of a run. */
  const entries = new WeakMap<SimulatedProcess, <T>(work: () => T) => T>()
  function enter<T>(process: SimulatedProcess, work: () => T): T {
    const known = entries.get(process)
    if (known) return known(work)
    const entry: <U>(inner: () => U) => U = current.run(process, () => AsyncLocalStorage.snapshot())
    entries.set(process, entry)
    return entry(work)
  }
  let now = 1000
  let orders = 0

  function add(ms: number, process: SimulatedProcess | undefined, run: () => void, everyMs: number | null): Timer {
    const timer = new Timer(now + Math.max(ms, 0), orders++, process, run, everyMs)
    queue.push(timer)
    return timer
  }
  const start = (everyMs: boolean) =>
    function set(work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) {
      return add(ms, current.getStore(), () => work(...args), everyMs ? ms : null)
    }
  const clear = (timer: Partial<Timer> | null | undefined) => {
    if (timer) timer.run = null
  }
  Object.assign(globalThis, {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: clear,
    clearInterval: clear,
  })
  Object.defineProperty(performance, 'now', { value: () => now, configurable: true, writable: true })

  /** False when it is not to run now. */
  function isDue(timer: Timer): boolean {
    const { process } = timer
    if (timer.run === null || process?.isDead) return false
    if (process === undefined || process.pausedUntil <= now) return true
    timer.at = process.pausedUntil
    queue.push(timer)
    return false
  }

  return {
    now: () => now,
    after: (ms, process, work) => void add(ms, process, work, null),
    within: enter,
    async runUntil(time) {
      await settled()
      for (let next = queue.peek(); next !== undefined && next.at <= time; next = queue.peek()) {
        queue.pop()
        now = Math.max(now, next.at)
        if (!isDue(next)) continue
        const { run, process, everyMs } = next
        if (everyMs !== null) {
          next.at = now + Math.max(everyMs, 1)
          queue.push(next)
        }
        if (process === undefined) run?.()
        else if (run) enter(process, run)
        await settled()
      }
      now = Math.max(now, time)
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, real)
      Reflect.deleteProperty(performance, 'now')
    },
  }
}

/** A heap: the earliest first, of two at one time the one that was set first. */
function createQueue() {
  const heap: Timer[] = []
  const isBefore = (one: Timer, other: Timer) => one.at < other.at || (one.at === other.at && one.order < other.order)
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]]
    if (one === undefined || other === undefined) return
    heap[a] = other
    heap[b] = one
  }
  const precedes = (a: number, b: number): boolean => {
    const [one, other] = [heap[a], heap[b]]
    return one !== undefined && other !== undefined && isBefore(one, other)
  }
  return {
    peek: (): Timer | undefined => heap[0],
    push(timer: Timer): void {
      heap.push(timer)
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1
        if (!precedes(at, parent)) break
        swap(at, parent)
        at = parent
      }
    },
    pop(): void {
      swap(0, heap.length - 1)
      heap.pop()
      for (let at = 0; ; ) {
        let least = at
        for (const child of [2 * at + 1, 2 * at + 2]) if (precedes(child, least)) least = child
        if (least === at) break
        swap(at, least)
        at = least
      }
    },
  }
}
