/**
 * `npm run bench:guard`: whether Greenroom has become slow, in less than three minutes. All figures are ratios to the
 * raw pass-through of the same run, so that they hold on other machines; of two repetitions the better counts, since noise
 * only ever makes worse. It fails at twice the ratio that `npm run bench:guard -- --record` wrote into guard.json.
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
const paced200 = paced(200, 1)
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
  const figures = ({ of, key }: Watch, row: string) => record.cases[of.name]?.rows[row]?.figures[key] ?? []
  const ratio = (watch: Watch, row: string): number => {
    const raw = figures(watch, 'raw')
    const all = figures(watch, row).map((value, n) => {
      const limit = raw[n] ?? Number.NaN
      return watch.isRate ? limit / value : value / limit
    })
    return Number(Math.min(...all.filter(Number.isFinite)).toPrecision(3))
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

async function compare(now: Ratios): Promise<boolean> {
  const before = JSON.parse(await readFile(file, 'utf8')) as Ratios // our own file
  let isGood = true
  const rows = Object.entries(now).flatMap(([row, ratios]) =>
    Object.entries(ratios).map(([what, ratio]) => {
      const recorded = before[row]?.[what] ?? Number.NaN
      const holds = ratio < recorded * FAIL_AT // false, too, where nothing was measured or recorded
      isGood &&= holds
      return [row, what, `${recorded}`, `${ratio}`, (ratio / recorded).toFixed(2), holds ? 'holds' : '**fails**']
    }),
  )
  console.log(`\n${table(['', 'times raw', 'recorded', 'now', 'now / recorded', `fails at ${FAIL_AT}`], rows)}`)
  return isGood
}

const now = await measure()
if (process.argv.includes('--record')) {
  await writeFile(file, `${JSON.stringify(now, null, 2)}\n`)
  console.log(JSON.stringify(now, null, 2))
  process.exit(0)
}
process.exit((await compare(now)) ? 0 : 1)
