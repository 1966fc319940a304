/** Starts that must fail (contract section 1): one clear line, an exit code, nothing left behind. */
import { createServer } from 'node:net'
import { expect } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { dataFolder, launchProduct, type ProductOptions, serverPid, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

/** How a failing start ends. */
async function failedStart(options: ProductOptions) {
  await using launched = await launchProduct({ direct: true, ...options })
  const exit = await launched.exited
  return { ...exit, stderr: launched.stderr, stdout: launched.stdout, server: await serverPid(launched.dataDir) }
}

const wrong: [name: string, value: string, others?: Record<string, string>][] = [
  ['PORT', '99999'],
  ['HOST', 'not a host'],
  ['DATABASE_URL', 'mysql://somewhere/x'],
  ['AUTH_CREDENTIALS', 'nobody'],
  ['TRUST_PROXY', 'everybody'],
  ['CACHE_PROVIDER', 'memcached'],
  ['OUTBOUND_POLICY', 'lax'],
  ['OWNER_LEASE_MS', '6s'],
  ['DRAIN_TIMEOUT_S', '-1'],
  ['LOG_LEVEL', 'loud'],
  ['SEED_DEMO', 'maybe'],
  ['WORKERS', '2'], // needs DATABASE_URL
  ['SECRET_KEY', '', { CACHE_PROVIDER: 'redis' }],
]

verifies(
  'contract-1.settings',
  'an invalid value is exit code 78 and one line that begins with the setting’s name',
  async () => {
    for (const [name, value, others = {}] of wrong) {
      const { code, stderr, stdout } = await failedStart({ env: { [name]: value, ...others } })
      expect(code, name).toBe(78)
      expect(stderr, name).toEqual([expect.stringMatching(new RegExp(`^${name}: .+\\.$`))])
      expect(stdout, name).toEqual([])
    }
  },
)

verifies('contract-1.settings', 'a host or folder that cannot be used is exit code 78 too', async () => {
  for (const [name, value] of [
    ['HOST', '192.0.2.1'],
    ['DATA_DIR', '/dev/null/data'],
  ] as const) {
    const { code, stderr } = await failedStart({ env: { [name]: value } })
    expect(code, name).toBe(78)
    expect(stderr, name).toEqual([expect.stringMatching(new RegExp(`^${name}: .+\\.$`))])
  }
})

verifies('contract-1.settings', 'a port in use is one line, and no database is left behind', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  try {
    const { code, stderr, server } = await failedStart({ env: { PORT: `${port}` } })
    expect(code).toBe(1)
    expect(stderr).toEqual([`PORT: ${port} on 127.0.0.1 is in use by another program.`])
    expect(server).toBeNull()
  } finally {
    other.close()
  }
})

verifies(
  'contract-1.embedded',
  'a second process on the same folder is one line, and the first continues',
  async () => {
    await using folder = await dataFolder()
    await using first = await startProduct({ dataDir: folder.path, direct: true })
    await using second = await launchProduct({ dataDir: folder.path, direct: true })
    expect(await second.exited).toEqual({ code: 1, signal: null })
    expect(second.stderr).toEqual([`DATA_DIR (${folder.path}) is in use by another Greenroom process.`])
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    // Disposing `second` waits for the folder's server to end, so the first is stopped before it.
    expect((await first.stop()).code).toBe(0)
  },
)

verifies(
  'contract-1.secret-key',
  'a key that does not decrypt the check value stops the start with one line',
  async () => {
    const database = await freshDatabase()
    try {
      const env = { DATABASE_URL: database.url }
      {
        await using product = await startProduct({ direct: true, env: { ...env, SECRET_KEY: 'the-first-key' } })
        await product.stop()
      }
      const { code, stderr } = await failedStart({ env: { ...env, SECRET_KEY: 'another-key' } })
      expect(code).toBe(78)
      expect(stderr).toEqual([expect.stringMatching(/^SECRET_KEY/)])
    } finally {
      await database.drop()
    }
  },
)

/** On SIGUSR2, an uncaught exception or an unhandled rejection. */
const faults = {
  'an uncaught exception': "throw new Error('nobody catches this')",
  'an unhandled rejection': "Promise.reject(new Error('nobody awaits this'))",
}

for (const [name, fault] of Object.entries(faults)) {
  verifies('contract-1.embedded', `${name} ends the process, and the database with it`, async () => {
    const script = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2',()=>{${fault}})`)}`
    await using product = await startProduct({ direct: true, nodeArgs: ['--import', script] })
    expect(await product.stop('SIGUSR2')).toEqual({ code: 1, signal: null })
    await expect.poll(() => serverPid(product.dataDir)).toBeNull()
  })
}
