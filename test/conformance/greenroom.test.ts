/** Greenroom passes level `durable`: `npm start` with its own database, killed with `kill -9` (contract section 34). */
import { freePort } from '../support/programs/free-port.ts'
import { dataFolder, type Product, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { expectPasses } from './passes.ts'

verifies(
  'contract-34.greenroom',
  'one instance passes level durable',
  async () => {
    await using folder = await dataFolder()
    const port = await freePort()
    let product: Product | null = null
    const start = async () => {
      product = await startProduct({ dataDir: folder.path, env: { PORT: String(port) } })
      return product
    }
    try {
      const { url } = await start()
      const kill = async () => product?.kill9()
      await expectPasses({ url, level: 'durable', server: { kill, start: async () => void (await start()) } })
    } finally {
      await Object(product)[Symbol.asyncDispose]?.()
    }
  },
  { timeout: 400_000 },
)
