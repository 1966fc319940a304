/** Greenroom passes the suite at level `durable`: `npm start` with its own database, killed with `kill -9` (contract section 34). */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import { greenroom } from '../../packages/conformance/src/adapters/greenroom.ts'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import { freePort } from '../support/programs/free-port.ts'
import { dataFolder, type Product, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

const model = await startModel(0)
afterAll(() => model.close())
