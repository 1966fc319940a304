/** Contract section 25: where the data is kept when root has set no DATA_DIR. */
import { chmod, mkdir, rm } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { chooseDataFolder } from '../../src/compose/start/data-folder.ts'
import { readSettings } from '../../src/settings.ts'
import { temporaryFolder } from '../support/folder.ts'
import { verifies } from '../verifies.ts'

let folder: string
let said: string[]
beforeEach(async () => {
  folder = await temporaryFolder()
  said = []
})
afterEach(() => rm(folder, { recursive: true }))

const chosen = async (environment: Record<string, string> = {}) => {
  const settings = readSettings(environment)
  return (await chooseDataFolder(settings, environment.DATA_DIR, folder, (line) => said.push(line))).dataDir
}

verifies('contract-25.data-folder', 'the working folder is used when the database can be below it', async () => {
  expect(await chosen()).toBe('./data')
  expect(said).toEqual([])
})

verifies('contract-25.data-folder', 'root keeps the data elsewhere when it cannot, and says so', async () => {
  await chmod(folder, 0o700)
  const isRoot = userInfo().uid === 0
  expect(await chosen()).toBe(isRoot ? '/var/lib/greenroom' : './data')
  expect(said).toEqual(isRoot ? [expect.stringMatching(/\/var\/lib\/greenroom.*DATA_DIR/)] : [])
})

verifies('contract-25.data-folder', 'what is set, or there already, stays', async () => {
  await chmod(folder, 0o700)
  expect(await chosen({ DATA_DIR: './elsewhere' })).toBe('./elsewhere')
  expect(await chosen({ DATABASE_URL: 'postgres://localhost/db' })).toBe('./data')
  await mkdir(join(folder, 'data'))
  expect(await chosen()).toBe('./data')
  expect(said).toEqual([])
})
