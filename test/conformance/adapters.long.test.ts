/** Adapters of protocols that Greenroom does not speak (contract section 34): LangGraph's, and the one of the documentation. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { findAdapter } from '../../packages/conformance/src/adapters/index.ts'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import type { Adapter } from '../../packages/conformance/src/types.ts'
import { temporaryFolder } from '../support/folder.ts'
import { verifies } from '../verifies.ts'
import { startChats } from './chats-front.ts'
import { startLanggraph } from './langgraph-front.ts'
import { type Fault, startSmallServer } from './small-server.ts'

const model = await startModel(0)
afterAll(() => model.close())

/** Runs the level `resume` through a front. Resolves to what did not pass. */
async function notPassed(adapter: Adapter, start: typeof startChats, fault: Fault | null = null) {
  const server = await startSmallServer(model.url, fault)
  try {
    await using front = await start(server.url)
    const outcomes = await runSuite({
      ...{ adapter, model, url: front.url, url2: null, agent: null, key: null, level: 'resume', only: null, server },
      ...{ timeoutMs: 30_000, signal: new AbortController().signal },
    })
    return outcomes.filter(({ result }) => result !== 'pass').map(({ id, result }) => [id, result])
  } finally {
    await server.kill()
  }
}

/** Returns the adapter of the documentation, from a file of its own. */
async function documented(): Promise<Adapter> {
  const page = await readFile(new URL('../../docs/conformance.md', import.meta.url), 'utf8')
  const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? []
  const file = join(await temporaryFolder('adapter'), 'mine.mjs')
  await writeFile(file, code)
  return await findAdapter(file)
}

describe.concurrent('adapters', () => {
  verifies('contract-34.adapters', 'LangGraph’s passes all but the keys, which its protocol has not', async () => {
    expect(await notPassed(await findAdapter('langgraph'), startLanggraph)).toEqual([
      ['resume.after-end', 'not offered'],
      ['resume.unknown-position', 'not offered'],
      ['retry.joins', 'fail'],
      ['retry.other-body', 'fail'],
    ])
  })

  verifies('contract-34.adapters', 'the documented one passes, and finds a reply whose end is lost', async () => {
    const adapter = await documented()
    const removes = ['remove.readers-end', 'not offered']
    expect(await notPassed(adapter, startChats)).toEqual([removes])
    expect(await notPassed(adapter, startChats, 'loses-last')).toEqual([['resume.after-end', 'fail'], removes])
  })
})
