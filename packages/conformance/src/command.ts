/** The command, without its process. */
import { readFile, writeFile } from 'node:fs/promises'
import { findAdapter } from './adapters/index.ts'
import { checks, checksOf } from './checks/index.ts'
import { wordsOf } from './failures.ts'
import { type Model, startModel } from './model/server.ts'
import { help, type Options, readOptions, UsageError } from './options.ts'
import { type Commands, createCommands } from './processes.ts'
import { createReport, isGood, lastLine, type Output } from './report.ts'
import { runSuite } from './suite.ts'
import type { Adapter } from './types.ts'

interface Surroundings {
  out: Output
  err: Output
  /** The wish to stop: aborts to end the run with what it has. */
  signal: AbortSignal
}

/** Resolves to the exit code. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, err } = surroundings
  try {
    const options = readOptions(args)
    if (options === 'help') return say(out, help)
    if (options === 'version') return say(out, `${await readVersion()}\n`)
    if (options === 'list') return say(out, listed())
    const adapter = await findAdapter(options.adapter).catch((error: unknown) => {
      throw new UsageError(wordsOf(error))
    })
    return await check(options, adapter, surroundings)
  } catch (error) {
    err.write(`${wordsOf(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function check(options: Options, adapter: Adapter, { out, signal }: Surroundings): Promise<number> {
  const model = await startModel(options.modelPort)
  const server = createCommands({ ...options, signal })
  const { url, url2, key, level } = options
  const startedAt = new Date().toISOString()
  const begin = performance.now()
  try {
    out.write(`The model listens on ${model.url}\n`)
    const agent = await setUp(options, adapter, { server, model }).catch((error: unknown) => {
      if (!signal.aborted) throw error
      return null
    })
    const width = Math.max(...checksOf(level, options.only).map(({ id }) => id.length), 0)
    const report = createReport(out, width)
    const { only, timeoutMs } = options
    const outcomes = await runSuite({
      ...{ adapter, model, url, url2, agent, key, level, only, timeoutMs, server, signal },
      onBegin: report.begin,
      onEnd: report.end,
    })
    out.write(`${lastLine(outcomes, level)}\n`)
    if (options.json !== null) {
      const ms = Math.round(performance.now() - begin)
      const facts = { suite: 'greenroom-conformance', version: await readVersion(), adapter: adapter.name, url, level }
      await writeFile(options.json, `${JSON.stringify({ ...facts, startedAt, ms, checks: outcomes }, null, 2)}\n`)
    }
    return isGood(outcomes) && !signal.aborted ? 0 : 1
  } finally {
    await server.end()
    await model.close()
  }
}

/** Starts and configures the server. Resolves to the agent that the checks talk to. */
async function setUp(options: Options, adapter: Adapter, { server, model }: { server: Commands; model: Model }) {
  const { url, agent, key, login, setup } = options
  await server.startUnlessThere()
  if (setup !== null) await server.setUp(setup, model.url)
  return (await adapter.configure?.({ url, modelUrl: model.url, agent, key, login })) ?? agent
}

function say(out: Output, text: string): number {
  out.write(text)
  return 0
}

function listed(): string {
  return checks
    .map(({ id, level, rule, reason, needs }) => `${id}  (${level}; ${needs.join(', ')})\n  ${rule}\n  ${reason}\n`)
    .join('')
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  return String(Object(manifest).version)
}
