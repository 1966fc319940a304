/** Measures the time from the command to the first successful request. */

import { execFileSync } from 'node:child_process'
import { npmStart } from '../../test/support/programs/npm-start.ts'
import { startProduct } from '../../test/support/programs/product.ts'
import { cpuOf, memoryOf } from '../environment/processes.ts'
import type { OwnCase } from '../runner/case.ts'

export const startUp: OwnCase = {
  kind: 'own',
  name: 'start-up',
  title: 'Start',
  rows: 'start',
  note: "`node`, as `npm start` runs it, until `/readyz` answers 200, with the embedded PostgreSQL; processor time until then and memory at rest are the server's own.",
  columns: [
    { key: 'seconds', title: 's', digits: 2 },
    { key: 'cpuSeconds', title: 'CPU s', digits: 2 },
    { key: 'stopSeconds', title: 'stop s', digits: 2 },
    { key: 'memoryMb', title: 'MB', digits: 0 },
    { key: 'postgresMb', title: 'PostgreSQL MB', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using scene = await ground.scene()
    const flags = npmStart(checkout.path)
    const nodeArgs = [...flags.args]
    execFileSync('npm', ['run', '--silent', 'prestart'], { cwd: checkout.path, stdio: 'inherit' })
    const start = async (env: Record<string, string>) => {
      const begin = performance.now()
      const options = { direct: true, nodeArgs, entry: flags.entry, checkout: checkout.path, dataDir: scene.folder }
      await using product = await startProduct({ ...options, env: { ...flags.env, ...env } })
      const seconds = (performance.now() - begin) / 1000
      const cpuSeconds = (await cpuOf([product.pid])).own / 1e6
      const memory = await memoryOf([product.pid])
      const end = performance.now()
      await product.stop()
      const stopSeconds = (performance.now() - end) / 1000
      return { seconds, cpuSeconds, stopSeconds, memoryMb: memory.own, postgresMb: memory.postgres }
    }
    const database = { DATABASE_URL: await scene.database(), SECRET_KEY: 'of-the-bench' }
    return {
      'first, empty folder': await start({}),
      'second, same folder': await start({}),
      'on a PostgreSQL that runs, empty': await start(database),
      'the same again': await start(database),
    }
  },
}
