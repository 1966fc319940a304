/** The first token beside raw's; a session's also without the two commits that stand before it: the question's and its own. */
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { contenders as direct } from '../../contenders/direct.ts'
import { contenders as handWritten } from '../../contenders/hand-written.ts'
import { contenders as raw } from '../../contenders/raw.ts'
import type { Ground } from '../../environment/ground.ts'
import { median } from '../../figures/figures.ts'
import type { Figures, OwnCase, Rows } from '../../runner/case.ts'
import type { Ask, Running } from '../../runner/contender.ts'
import { ask, startScene } from '../greenroom-scene.ts'

const ROUNDS = 8
const REPLIES = 50
const TOKENS = 5
const PROMPT = `tokens=${TOKENS} rate=0`

type Measures = Record<
  'direct' | 'raw' | 'two commits by hand' | 'stateless' | 'session' | 'session, fifth message' | 'bare commit',
  () => Promise<number>
>

/** Returns the median time of a commit of one short row, one after the other, in milliseconds. */
async function bareCommit(sql: Sql): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < REPLIES; n++) {
    const begin = performance.now()
    await sql`insert into bench_commits values (${n})`
    times.push(performance.now() - begin)
  }
  return median(times)
}

export const firstTokenParts: OwnCase = {
  kind: 'own',
  name: 'first-token',
  title: 'The first token, beside raw and without commits',
  rows: 'asked',
  note:
    `${ROUNDS} rounds in turn: ${REPLIES} replies of ${TOKENS} tokens from the model, through raw, through a hand-written server with two commits a reply, stateless, in new sessions and in sessions of four messages, one at a time, ` +
    'and as many commits of one row on the same PostgreSQL. Medians of the rounds. The commits that a session’s first token ' +
    'waits for are those of the question and of the token.',
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 2 },
    { key: 'addedMs', title: 'added ms', digits: 2 },
    { key: 'addedMs', title: 'added / raw', against: { row: 'raw', how: 'ratio' } },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground)
    await using directScene = await ground.scene()
    await using rawScene = await ground.scene()
    const sql = connect(scene.databaseUrl, { name: 'bench', max: 1, timeoutMs: 0 })
    await sql`create table bench_commits (n integer)`
    await using model = await startOf(direct, directScene)
    await using pipe = await startOf(raw, rawScene)
    await using byHandScene = await ground.scene()
    await using byHand = await startOf(
      handWritten.filter(({ keeps }) => keeps === 'thread'),
      byHandScene,
    )
    const through = (running: Running) => () => firstToken(ground, asksOf(running))
    const inSessions = async (message = 1): Promise<number> => {
      const asks = (await scene.openMany(REPLIES)).map((one) => ask(one, PROMPT))
      for (let n = 1; n < message; n++) await firstToken(ground, asks)
      return await firstToken(ground, asks)
    }
    const stateless = () =>
      firstToken(
        ground,
        Array.from({ length: REPLIES }, () => ask(scene.deploy, PROMPT)),
      )
    const measures: Measures = {
      ...{ direct: through(model), raw: through(pipe), 'two commits by hand': through(byHand), stateless },
      session: () => inSessions(),
      'session, fifth message': () => inSessions(5),
      'bare commit': () => bareCommit(sql),
    }
    await repetition(measures) // warm-up
    const all: Rows[] = []
    while (all.length < repetitions) all.push(await repetition(measures))
    await sql.end()
    return all
  },
}

type Scene = Awaited<ReturnType<Ground['scene']>>

async function startOf([contender]: typeof raw, scene: Scene): Promise<Running> {
  if (contender === undefined) throw new Error('No contender.')
  return await contender.start(scene)
}

const asksOf = (running: Running): Ask[] => Array.from({ length: REPLIES }, () => running.ask('', PROMPT, true))

async function firstToken({ load }: Ground, asks: Ask[]): Promise<number> {
  const { firstMs, failures } = await load.replies({ asks, tokens: TOKENS, slots: 1 })
  if (failures.length > 0) throw new Error(failures.join('; '))
  return firstMs.p50
}

async function repetition(measures: Measures): Promise<Rows> {
  const rounds = Object.entries(measures).map(([name, measure]) => ({ name, measure, found: [] as number[] }))
  for (let round = 0; round < ROUNDS; round++) {
    for (const { measure, found } of rounds) found.push(await measure())
  }
  const medianOf = (name: keyof Measures) => median(rounds.find((one) => one.name === name)?.found ?? [])
  const straight = medianOf('direct')
  const commit = medianOf('bare commit')
  const figures = (p50Ms: number): Figures => ({ p50Ms, addedMs: p50Ms - straight })
  return {
    direct: figures(straight),
    raw: figures(medianOf('raw')),
    'two commits by hand': figures(medianOf('two commits by hand')),
    stateless: figures(medianOf('stateless')),
    session: figures(medianOf('session')),
    'session, fifth message': figures(medianOf('session, fifth message')),
    'bare commit': { p50Ms: commit },
    'session less two commits': figures(medianOf('session') - 2 * commit),
    'session less two commits, fifth message': figures(medianOf('session, fifth message') - 2 * commit),
  }
}
