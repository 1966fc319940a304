/**
 * Several instances: cancel, resume, follow, loss and cost across three of them, with Redis and on PostgreSQL alone.
 * Everything shares this machine; the two scenes are interleaved, so that drift of the machine affects both.
 * `npm run bench -- cluster`; BENCH_CASES=cancel,cost selects cases.
 */
import { loadavg } from 'node:os'
import { installMissingParts } from '../test/support/programs/system-parts.ts'
import { benchCancel } from './cluster/cancel.ts'
import { benchCost } from './cluster/cost.ts'
import { benchFollow } from './cluster/follow.ts'
import { benchLoss, lossTable } from './cluster/loss.ts'
import { benchResume } from './cluster/resume.ts'
import { type Ground, openGround, openScene, type Scene } from './cluster/scene.ts'
import { ownCheckout } from './environment/checkout.ts'
import { commitOf, isRecordable } from './environment/commit.ts'
import { machine } from './environment/machine.ts'

const LEASE_MS = 6000
const SHORT_LEASE_MS = 1500

const cases = new Map<string, [title: string, run: (ground: Ground, scenes: Scene[]) => Promise<string>]>([
  ['cancel', ['Cancel through another instance', (_, scenes) => benchCancel(scenes)]],
  ['resume', ['First byte of a resume on another instance', (_, scenes) => benchResume(scenes)]],
  ['follow', ['A token on another instance, after the same on the owner', (_, scenes) => benchFollow(scenes)]],
  ['cost', ['What following costs', benchCost]],
  ['loss', ['An owner that is killed', benchLosses]],
])

/** The default lease, then a short one on separate instances. */
async function benchLosses(ground: Ground, scenes: Scene[]): Promise<string> {
  const rows = await benchLoss(scenes, LEASE_MS)
  await using stack = new AsyncDisposableStack()
  const short: Scene[] = []
  for (const redis of [true, false]) short.push(stack.use(await openScene(ground, { redis, leaseMs: SHORT_LEASE_MS })))
  return lossTable([...rows, ...(await benchLoss(short, SHORT_LEASE_MS))])
}

export async function benchCluster(): Promise<void> {
  const wanted = process.env.BENCH_CASES?.split(',') ?? [...cases.keys()]
  installMissingParts()
  const commit = commitOf(ownCheckout.path)
  console.log(`Commit ${commit}; ${Object.values(machine()).join('; ')}.`)
  if (!isRecordable(commit)) console.log('The tree is dirty: these figures belong in no record.')
  await using stack = new AsyncDisposableStack()
  const ground = stack.use(await openGround())
  const scenes: Scene[] = []
  for (const redis of [true, false]) scenes.push(stack.use(await openScene(ground, { redis })))
  for (const name of wanted) {
    const [title, run] = cases.get(name) ?? []
    if (!run) throw new Error(`BENCH_CASES: no case ${name}. There are: ${[...cases.keys()].join(', ')}.`)
    const load = loadavg()[0]?.toFixed(1)
    console.log(
      `\n## ${title}\n\n${await run(ground, scenes)}\n\nLoad before ${load}, after ${loadavg()[0]?.toFixed(1)}.`,
    )
  }
}
