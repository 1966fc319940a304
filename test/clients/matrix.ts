/** One client in one test file: installed, opened, put to the suite, and what was seen compared with what is told. */
import { expect, test } from 'vitest'
import { askSetUp } from '../support/database.ts'
import type { Driver } from './driver.ts'
import { pythonDriver } from './python.ts'
import type { Recorded } from './rows.ts'

/** Rejects with one line where the clients cannot be installed. */
export async function needClients(): Promise<void> {
  const trouble = await askSetUp('clients')
  if (trouble !== '') throw new Error(trouble)
}

/** `file` in drivers/, for one package. */
export async function openDriver(file: string, packageName = file): Promise<Driver> {
  await needClients()
  const { openDriver } = await import(`./drivers/${file}.js`)
  return await openDriver(packageName)
}

/** Null: Python or its client is not to be had here. */
export async function openPythonDriver(): Promise<Driver | null> {
  const python = await askSetUp('python')
  return python === '' ? null : pythonDriver(python)
}

/** The last test of a file: docs/clients.md is made of these files by `npm run generate`. */
export function compareRecorded(file: string, recorded: () => Recorded): void {
  test('the table tells what was seen (npm run clients writes it anew)', async () => {
    await expect(`${JSON.stringify(recorded(), null, 2)}\n`).toMatchFileSnapshot(`recorded/${file}.json`)
  })
}
