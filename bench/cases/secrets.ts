/** The cost of a client secret to a reply, compared with the deploy key on the same server. */
import { postJson } from '../../test/support/programs/product.ts'
import type { Ground } from '../environment/ground.ts'
import { median } from '../figures/figures.ts'
import type { Figures, OwnCase, Rows } from '../runner/case.ts'
import type { Ask } from '../runner/contender.ts'
import { ask, type GreenroomScene, load, startScene } from './greenroom-scene.ts'

const KEY = 'the-deploy-key'
const USER = 'somebody'
/** The rounds of each row, many and short, in turn: the difference is smaller than the machine's drift in a second. */
const ROUNDS = 8
/** Replies one after the other: the time to their first token is measured. */
const ALONE = { replies: 30, tokens: 5, slots: 1 }
/**
 * Replies in parallel: the processor time is measured. A tick of its clock is 10 ms; a round of these takes about thirty.
 */
const MANY = { replies: 100, tokens: 200, slots: 8 }
const REPLIES = ALONE.replies + MANY.replies

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })

async function newSecret({ deploy }: GreenroomScene): Promise<string> {
  const answer = await postJson(`${deploy}/client_secrets`, { user: USER, expires_after: TWO_HOURS }, headersOf(KEY))
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
  return Object(await answer.json()).value
}
const TWO_HOURS = { anchor: 'created_at', seconds: 7200 }

/** The token of each reply of a round. */
type Tokens = (scene: GreenroomScene) => Promise<string[]>
const rows: Record<string, Tokens> = {
  'deploy key': async () => Array.from({ length: REPLIES }, () => KEY),
  'client secret': async (scene) => {
    const secret = await newSecret(scene)
    return Array.from({ length: REPLIES }, () => secret)
  },
  'client secret, another one for each reply': async (scene) => {
    const secrets: string[] = []
    while (secrets.length < REPLIES) secrets.push(await newSecret(scene))
    return secrets
  },
}

async function round(ground: Ground, scene: GreenroomScene, tokensOf: Tokens): Promise<Figures> {
  const tokens = await tokensOf(scene)
  const sessions = await scene.sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user)
    select ${scene.agentId}, ${USER} from generate_series(1, ${REPLIES}) returning id`
  const asks = sessions.map(
    ({ id }, n) =>
      (prompt: string): Ask => ({
        ...ask(`${scene.deploy}/sessions/${id}`, prompt),
        headers: headersOf(tokens[n] ?? ''),
      }),
  )
  const run = ({ replies, ...job }: typeof ALONE) =>
    load(ground, scene, { ...job, asks: asks.splice(0, replies).map((of) => of(`tokens=${job.tokens} rate=0`)) })
  const alone = await run(ALONE)
  const many = await run(MANY)
  return {
    firstMs: alone.firstMs.p50,
    cpuUs: many.cpu.own / many.tokens,
    postgresUs: many.cpu.postgres / many.tokens,
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns each row's rounds in turn, so that drift of the machine affects all. */
async function repetition(ground: Ground, scene: GreenroomScene): Promise<Rows> {
  const rounds = Object.entries(rows).map(([name, tokensOf]) => ({ name, tokensOf, figures: [] as Figures[] }))
  for (let n = 0; n < ROUNDS; n++) {
    for (const { tokensOf, figures } of rounds) figures.push(await round(ground, scene, tokensOf))
  }
  return Object.fromEntries(
    rounds.map(({ name, figures }) => {
      const all = (key: string) => figures.map((one) => one[key] ?? Number.NaN)
      return [name, { firstMs: median(all('firstMs')), cpuUs: mean(all('cpuUs')), postgresUs: mean(all('postgresUs')) }]
    }),
  )
}

const overKey = { row: 'deploy key', how: 'minus' } as const

export const secrets: OwnCase = {
  kind: 'own',
  name: 'secrets',
  title: 'Client secrets',
  rows: 'credential',
  note:
    `${ROUNDS} rounds for each row, the rows in turn on one server: first ${ALONE.replies} replies of ${ALONE.tokens} tokens ` +
    `in sequence (time to first token), then ${MANY.replies} of ${MANY.tokens} tokens, ${MANY.slots} at a time (CPU time). Each ` +
    'in a new session of one user. Sessions and secrets are created before.',
  columns: [
    { key: 'firstMs', title: 'first token p50 ms', digits: 2 },
    { key: 'firstMs', title: 'more than with the key', digits: 3, against: overKey },
    { key: 'cpuUs', title: 'CPU µs per token', digits: 2 },
    { key: 'cpuUs', title: 'more than with the key', digits: 2, against: overKey },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 2 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground, { env: { PUBLIC_API_KEY: KEY } })
    await repetition(ground, scene) // warm-up
    const all: Rows[] = []
    while (all.length < repetitions) all.push(await repetition(ground, scene))
    return all
  },
}
