/**
 * Prints what a reply waits for before its first token, step by step, in microseconds: medians of replies asked for one at a
 * time, alternating between checkouts.
 *
 *     node bench/first-byte/main.ts before=../before after=.
 */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask, type GreenroomScene, startScene } from '../cases/greenroom-scene.ts'
import { ownCheckout } from '../environment/checkout.ts'
import { type Ground, openGround } from '../environment/ground.ts'
import { median, table } from '../figures/figures.ts'
import type { Ask } from '../runner/contender.ts'
import type { Mark } from './marks.ts'
import { type Kind, kinds, stepsOf } from './steps.ts'

const ROUNDS = 12
const REPLIES = 40
const PROMPT = 'tokens=5 rate=0'
/** Replies that warm each kind up. */
const WARM = 1500

const preload = fileURLToPath(new URL('marks.ts', import.meta.url))

/** The kind of a reply that was asked for; one before the fifth message is not shown. */
type Asked = Kind | 'before'

interface Measured extends AsyncDisposable {
  name: string
  scene: GreenroomScene
  folder: string
  /** The kind of each reply asked for, in order. */
  asked: Asked[]
}

async function start(ground: Ground, name: string, path: string): Promise<Measured> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await ground.scene()).folder
  const marks = join(folder, 'marks.json')
  const started = { nodeArgs: [`--import=${preload}`], env: { FIRST_BYTE_MARKS: marks } }
  const scene = stack.use(await startScene({ name, path }, ground, started))
  const kept = stack.move()
  return { name, scene, folder, asked: [], [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Asks for replies, one after the other. */
async function reply({ load }: Ground, one: Measured, kind: Asked, asks: Ask[]): Promise<void> {
  const { failures } = await load.replies({ asks, tokens: 5, slots: 1 })
  if (failures.length > 0) throw new Error(failures.join('; '))
  for (const _ of asks) one.asked.push(kind)
}

async function round(ground: Ground, one: Measured, count: number): Promise<void> {
  const { scene } = one
  await reply(
    ground,
    one,
    'stateless',
    Array.from({ length: count }, () => ask(scene.deploy, PROMPT)),
  )
  const asks = (await scene.openMany(count)).map((session) => ask(session, PROMPT))
  await reply(ground, one, 'session', asks)
  for (let n = 2; n < 5; n++) await reply(ground, one, 'before', asks)
  await reply(ground, one, 'fifth message', asks)
}

async function marksOf({ scene, folder, asked }: Measured, warm: number): Promise<Map<Kind, Mark[][]>> {
  await scene.product.stop()
  const all: Mark[][] = JSON.parse(await readFile(join(folder, 'marks.json'), 'utf8'))
  if (all.length !== asked.length) throw new Error(`${asked.length} replies were asked for, ${all.length} have marks.`)
  const found = new Map<Kind, Mark[][]>(kinds.map((kind) => [kind, []]))
  for (const [n, marks] of all.entries()) {
    const kind = asked[n]
    if (n >= warm && kind !== undefined && kind !== 'before') found.get(kind)?.push(marks)
  }
  return found
}

const given = process.argv.slice(2).map((one) => one.split('=', 2))
const checkouts = given.length > 0 ? given : [['now', ownCheckout.path]]
await using ground = await openGround()
await using stack = new AsyncDisposableStack()
const measured: Measured[] = []
for (const [name = '', path = '.'] of checkouts) measured.push(stack.use(await start(ground, name, resolve(path))))
for (const one of measured) await round(ground, one, WARM / 6)
const warm = measured[0]?.asked.length ?? 0
for (let n = 0; n < ROUNDS; n++) for (const one of measured) await round(ground, one, REPLIES)
const found = await Promise.all(measured.map((one) => marksOf(one, warm)))
for (const kind of kinds) {
  const columns = found.map((of) => (of.get(kind) ?? []).map((marks) => stepsOf(kind, marks)))
  const names = [...new Set(columns.flat().flatMap((steps) => [...steps.keys()]))]
  const cell = (all: Map<string, number>[], name: string) =>
    median(all.flatMap((steps) => steps.get(name) ?? [])).toFixed(0)
  const rows = names.map((name) => [name, ...columns.map((all) => cell(all, name))])
  console.log(`\n${table([kind, ...measured.map(({ name }) => name)], rows)}`)
}
process.exit(0)
