/**
 * `npm run bench:guard`: checks in less than a minute whether Greenroom has become slow. It compares CPU time (user and
 * system, of all of a contender's processes, PostgreSQL included) as a ratio to that of the raw pass-through: on a busy
 * machine every reply is late, but a token's cost grows by about the same factor for both. All contenders stay up and
 * are loaded in turn; the median of the rounds' ratios counts, and a failure counts once it was measured three times, the
 * second and third time in more rounds.
 * On two cores at loads of 1 to 3, a paced token's ratios differed by 6 to 8 % between runs of five rounds; two rounds right
 * behind the tests were between 2 % below and 28 % above the record. At a load of 13 they were a fifth lower.
 * `npm run bench:guard -- --record` writes guard.json, the median of three such measurements.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { measureReplies } from './cases/replies/replies.ts'
import { allContenders } from './contenders/all.ts'
import { ownCheckout } from './environment/checkout.ts'
import { commitOf, isRecordable } from './environment/commit.ts'
import { type Ground, openGround } from './environment/ground.ts'
import { median, table } from './figures/figures.ts'
import type { Turn } from './runner/case.ts'
import { openTurn, warm } from './runner/turns.ts'

/** Rounds of a measurement. To see that all is well, two suffice; what fails in them is measured again in five. */
const ROUNDS = 5
const FIRST_ROUNDS = 2
const RECORDED_RUNS = 3
const LIMIT = 'raw'
const guarded = ['greenroom-stateless', 'greenroom-session'] as const
type Name = typeof LIMIT | (typeof guarded)[number]

type Watch = {
  readonly what: string
  /** The multiple of the recorded ratio at which it fails. */
  readonly failAt: number
  /** Enough that one tick of the kernel's accounting (10 ms) is at most a few percent of the result. */
  readonly replies: Readonly<Record<Name, number>>
  readonly load: { tokens: number; rate: number; stream: boolean; slots: number; staggerMs?: number }
  readonly figure: 'cpu time' | 'first token'
}

const watches: readonly Watch[] = [
  {
    what: 'CPU a token, 150 paced',
    failAt: 1.3,
    replies: { raw: 300, 'greenroom-stateless': 300, 'greenroom-session': 300 },
    load: { tokens: 40, rate: 50, stream: true, slots: 150, staggerMs: 800 },
    figure: 'cpu time',
  },
  {
    // Raw copies what the socket holds, about 1 µs a token, and we parse it: how many tokens come at once, and what a copy
    // costs, is the machine's. The same commit was at 2.08 on one machine and at 2.7 to 3.2 on another of its kind, and one of
    // November at 3.9, 4.4 and 6.2 in one afternoon.
    what: 'CPU a token, unpaced',
    failAt: 2,
    replies: { raw: 600, 'greenroom-stateless': 100, 'greenroom-session': 100 },
    load: { tokens: 2000, rate: 0, stream: true, slots: 20 },
    figure: 'cpu time',
  },
  {
    // One wake-up for each of a few tokens, so it varies with the load more than a stream does (1.4 times at a load of 13).
    what: 'CPU a short reply',
    failAt: 1.5,
    replies: { raw: 5000, 'greenroom-stateless': 1600, 'greenroom-session': 400 },
    load: { tokens: 5, rate: 0, stream: false, slots: 20 },
    figure: 'cpu time',
  },
  {
    // Detects a wait that costs no CPU time. Wall time, hence the fastest of each round and the wide limit: a session's has
    // two waits for the disk in it, so that the same commit was at 1.3 and at 2.04 on two machines of one kind.
    what: 'fastest first token',
    failAt: 3,
    replies: { raw: 60, 'greenroom-stateless': 60, 'greenroom-session': 60 },
    load: { tokens: 5, rate: 0, stream: true, slots: 1 },
    figure: 'first token',
  },
]

/** Multiples of raw's figure, by contender and watch. */
type Ratios = { [contender: string]: { [what: string]: number } }

async function openTurns(ground: Ground, stack: AsyncDisposableStack): Promise<Record<Name, Turn>> {
  const all = allContenders([ownCheckout])
  const open = async (name: Name): Promise<Turn> => {
    const contender = all.find((one) => one.name === name)
    if (!contender) throw new Error(`No contender ${name}.`)
    const scene = stack.use(await ground.scene())
    const turn = openTurn(ground, scene, contender, stack.use(await contender.start(scene)))
    await warm(turn)
    return turn
  }
  return {
    raw: await open('raw'),
    'greenroom-stateless': await open('greenroom-stateless'),
    'greenroom-session': await open('greenroom-session'),
  }
}

async function measureOnce(turn: Turn, name: Name, { replies: count, load, figure }: Watch): Promise<number> {
  const { rate, ...job } = load
  const prompt = `tokens=${load.tokens} rate=${rate}`
  const { cpu, replies } = await measureReplies(turn, { ...job, count: count[name], prompt })
  return figure === 'first token' ? replies.firstMs.min : (cpu.own + cpu.postgres) / replies.replies
}

function unmeasured(error: Error): number {
  console.log(`Not measured: ${error.message}`)
  return Number.NaN
}

async function measure(wanted: readonly Watch[], rounds = ROUNDS): Promise<Ratios> {
  await using ground = await openGround()
  await using stack = new AsyncDisposableStack()
  const turns = await openTurns(ground, stack)
  const samples = wanted.map((watch) => ({ watch, ratios: guarded.map((name) => ({ name, found: [] as number[] })) }))
  for (let round = 0; round < rounds; round++) {
    for (const { watch, ratios } of samples) {
      // A turn in which more than one reply in a hundred failed has no figure: on an overloaded machine sockets time out.
      // The other rounds decide.
      const turn = (name: Name) => measureOnce(turns[name], name, watch).catch(unmeasured)
      const limit = await turn(LIMIT)
      for (const { name, found } of ratios) {
        const ratio = (await turn(name)) / limit
        if (Number.isFinite(ratio)) found.push(ratio)
      }
    }
  }
  const measured: Ratios = {}
  for (const { watch, ratios } of samples) {
    for (const { name, found } of ratios) {
      measured[name] = { ...measured[name], [watch.what]: Number(median(found).toPrecision(3)) }
    }
  }
  return measured
}

const loadNow = (): number => Number((loadavg()[0] ?? 0).toFixed(1))

const file = new URL('guard.json', import.meta.url)

async function recorded(): Promise<Ratios> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) throw new Error('There is no guard.json: npm run bench:guard -- --record.')
  return JSON.parse(text).ratios // our own file
}

/** Returns the ratio to the recorded figure. NaN: nothing is recorded. */
const growthOf = (now: Ratios, before: Ratios, name: string, { what }: Watch): number =>
  (now[name]?.[what] ?? Number.NaN) / (before[name]?.[what] ?? Number.NaN)

/** Returns the watches that fail in all `runs`; a missing figure counts as a failure. */
const failing = (runs: readonly Ratios[], before: Ratios): Watch[] =>
  watches.filter((watch) =>
    guarded.some((name) => !runs.some((now) => growthOf(now, before, name, watch) < watch.failAt)),
  )

function print(now: Ratios, before: Ratios): void {
  const rows = guarded.flatMap((name) =>
    watches
      .filter(({ what }) => now[name]?.[what] !== undefined)
      .map((watch) => {
        const growth = growthOf(now, before, name, watch)
        const verdict = growth < watch.failAt ? 'holds' : '**fails**'
        const ratios = [before, now].map((ratios) => `${ratios[name]?.[watch.what]}`)
        return [name, watch.what, ...ratios, growth.toFixed(2), `${watch.failAt}`, verdict]
      }),
  )
  console.log(
    `\nLoad at the end: ${loadNow()}.\n\n${table(['', 'times raw', 'recorded', 'now', 'now / recorded', 'fails at', ''], rows)}`,
  )
}

/** Measures all watches. A failed one is measured again, twice at most: it fails when no measurement holds. */
async function guard(): Promise<number> {
  const before = await recorded()
  const runs: Ratios[] = []
  for (let doubtful: readonly Watch[] = watches; runs.length < 3 && doubtful.length > 0; ) {
    if (runs.length > 0) console.log('\nOnce more:')
    const run = await measure(doubtful, runs.length === 0 ? FIRST_ROUNDS : ROUNDS)
    print(run, before)
    runs.push(run)
    doubtful = failing(runs, before).filter((watch) => doubtful.includes(watch))
  }
  return failing(runs, before).length === 0 ? 0 : 1
}

async function recordRatios(): Promise<number> {
  const commit = commitOf(ownCheckout.path)
  if (!isRecordable(commit)) throw new Error('A dirty tree is not recorded: commit first.')
  const before = loadNow()
  const runs: Ratios[] = []
  for (let n = 0; n < RECORDED_RUNS; n++) runs.push(await measure(watches))
  const ratiosOf = (name: string) =>
    watches.map(({ what }) => [what, median(runs.map((run) => run[name]?.[what] ?? Number.NaN))])
  const ratios = Object.fromEntries(guarded.map((name) => [name, Object.fromEntries(ratiosOf(name))]))
  const text = JSON.stringify({ commit, load: [before, loadNow()], runs: RECORDED_RUNS, ratios }, null, 2)
  await writeFile(file, `${text}\n`)
  console.log(text)
  return 0
}

process.exit(process.argv.includes('--record') ? await recordRatios() : await guard())
