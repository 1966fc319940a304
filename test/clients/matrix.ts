/** One client in one test file: installed, opened, put to the suite, and what was seen compared with what is told. */
import { expect, test } from 'vitest'
import { askSetUp } from '../support/database.ts'
import type { ContentDriver, Driver, ResponsesDriver, SessionDriver } from './driver.ts'
import { pythonDriver } from './python.ts'
import type { Recorded } from './rows.ts'
import type { Source } from './sources.ts'

/** `file` in drivers/, for one package. Rejects with one line where the clients cannot be installed. */
export const openDriver = (file: string, packageName = file): Promise<Driver> => load(file, packageName)

/** All clients of drivers/contents.js. */
export const openContents = (): Promise<ContentDriver[]> => load('contents', '')

/** All clients of drivers/responses.js. */
export const openResponses = (): Promise<ResponsesDriver[]> => load('responses', '')

/** The Agents SDK with the session that it keeps in conversations. */
export const openConversationsSession = (): Promise<SessionDriver> => load('conversations-session', '')

/** Likewise, of one that follows replies. */
export const openSource = (file: string): Promise<Source> => load(file, file)

async function load(file: string, packageName: string) {
  const trouble = await askSetUp('clients')
  if (trouble !== '') throw new Error(trouble)
  const { openDriver } = await import(`./drivers/${file}.js`)
  return await openDriver(packageName)
}

/** Null when Python or its client is not to be had here. */
export async function openPythonDriver(): Promise<Driver | null> {
  const python = await askSetUp('python')
  return python === '' ? null : pythonDriver(python)
}

/** The last test of a file: docs/clients.md is made of these files by `npm run generate`. */
export function compareRecorded(file: string, recorded: () => Recorded): void {
  test('the table tells what was seen (npm run clients writes it anew)', async () => {
    await expect(`${JSON.stringify(recorded(), null, 2)}\n`).toMatchFileSnapshot(`../recorded/${file}.json`)
  })
}
