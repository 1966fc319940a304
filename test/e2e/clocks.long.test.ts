/** An instance whose clock differs from the database's says so wherever operators look (issue 69). */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startProduct } from '../support/programs/product.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Returns code that sets the clock eleven minutes ahead until the file exists. */
const ahead = (until: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { existsSync } from 'node:fs'
    const now = Date.now
    Date.now = () => now() + (existsSync(${JSON.stringify(until)}) ? 0 : 660_000)`)}`

test('a clock that is eleven minutes ahead is in the log, in /readyz and in the metrics, until it is set', async () => {
  const isSet = join(await temporaryFolder('clock'), 'set')
  const database = await freshDatabase()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => database.drop())
  const product = stack.use(
    await startProduct({
      direct: true,
      nodeArgs: ['--import', ahead(isSet)],
      env: { DATABASE_URL: database.url, SECRET_KEY: 'of-a-test', LOG_LEVEL: 'info', METRICS_PORT: '0' },
    }),
  )
  const clock = async () => {
    const ready = await fetch(`${product.url}/readyz`)
    return [ready.status, Object(await ready.json()).checks.clock]
  }
  const [, metrics = ''] = /^Metrics: (\S+)$/m.exec(product.stderr.join('\n')) ?? []
  const seconds = async () => {
    const text = await (await fetch(metrics)).text()
    return Number(/^greenroom_clock_ahead_seconds(?:\{.*\})? (\S+)$/m.exec(text)?.[1])
  }
  expect(product.stdout.filter((line) => line.includes('"aheadS":660'))).toHaveLength(1)
  expect(await clock()).toEqual([200, 'off'])
  expect(Math.round((await seconds()) / 10)).toBe(66)
  await writeFile(isSet, '')
  await expect.poll(clock).toEqual([200, undefined])
  expect(Math.abs(await seconds())).toBeLessThan(30)
  expect(product.stdout.join('\n')).toContain('The clock agrees with the database again.')
})
