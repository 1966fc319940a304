/**
 * `npm run bench:guard`: whether Greenroom has become slow, in less than three minutes. All figures are ratios to the
 * raw pass-through of the same run, so that they hold on other machines; of two repetitions each one's better counts, since
 * noise only ever makes worse. It fails at twice the ratio that `npm run bench:guard -- --record` wrote into guard.json.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { ownCheckout } from './arguments.ts'
import type { SideCase } from './case.ts'
import { firstToken, paced } from './cases/stream.ts'
import { mostTokens, shortReplies } from './cases/throughput.ts'
import { table } from './cluster/figures.ts'
import { allContenders } from './contenders/all.ts'
import { openGround } from './ground.ts'
import { type Record as Recorded, startRecord } from './results.ts'
import { takeTurns } from './turns.ts'

const REPETITIONS = 2
const FAIL_AT = 2
const file = new URL('guard.json', import.meta.url)

const guarded = ['greenroom-stateless', 'greenroom-session']
const paced200 = paced(200, 2000)
const cases: SideCase[] = [firstToken, paced200, mostTokens, shortReplies]

type Watch = { readonly what: string; readonly of: SideCase; readonly key: string; readonly isRate: boolean }

const watches: readonly Watch[] = [
  { what: 'time to first token', of: firstToken, key: 'p50Ms', isRate: false },
  { what: 'CPU a token, 200 paced', of: paced200, key: 'cpuUs', isRate: false },
  { what: 'most tokens a second', of: mostTokens, key: 'perSecond', isRate: true },
  { what: 'short replies a second', of: shortReplies, key: 'perSecond', isRate: true },
]

/** By contender and what is watched: how many times worse than raw. */
type Ratios = { [contender: string]: { [what: string]: number } }

function ratiosOf(record: Recorded): Ratios {
  const best = ({ of, key, isRate }: Watch, row: string): number => {
    const all = record.cases[of.name]?.rows[row]?.figures[key] ?? [Number.NaN]
    return isRate ? Math.max(...all) : Math.min(...all)
  }
  const ratio = (watch: Watch, row: string): number => {
    const [raw, own] = [best(watch, 'raw'), best(watch, row)]
    return Number((watch.isRate ? raw / own : own / raw).toPrecision(3))
  }
  return Object.fromEntries(
    guarded.map((row) => [row, Object.fromEntries(watches.map((watch) => [watch.what, ratio(watch, row)]))]),
  )
}

async function measure(): Promise<Ratios> {
  const contenders = allContenders([ownCheckout]).filter(({ name }) => name === 'raw' || guarded.includes(name))
  const record = startRecord(cases, REPETITIONS, 0)
  await using ground = await openGround()
  await takeTurns(ground, cases, contenders, REPETITIONS, record)
  return ratiosOf(record)
}

/** Null: nothing was recorded. */
async function recorded(): Promise<Ratios | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Ratios) // our own file
}

function compare(now: Ratios, before: Ratios): boolean {
  let isGood = true
  const rows = Object.entries(now).flatMap(([row, ratios]) =>
    Object.entries(ratios).map(([what, ratio]) => {
      const then = before[row]?.[what] ?? Number.NaN
      const holds = ratio < then * FAIL_AT // false, too, where nothing was measured or recorded
      isGood &&= holds
      return [row, what, `${then}`, `${ratio}`, (ratio / then).toFixed(2), holds ? 'holds' : '**fails**']
    }),
  )
  console.log(`\n${table(['', 'times raw', 'recorded', 'now', 'now / recorded', `fails at ${FAIL_AT}`], rows)}`)
  return isGood
}

const isRecording = process.argv.includes('--record')
const before = await recorded()
if (before === null && !isRecording) throw new Error('There is no guard.json: npm run bench:guard -- --record.')
const now = await measure()
if (isRecording) {
  await writeFile(file, `${JSON.stringify(now, null, 2)}\n`)
  console.log(JSON.stringify(now, null, 2))
}
process.exit(before === null || isRecording || compare(now, before) ? 0 : 1)
