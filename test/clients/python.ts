/** The official Python client as a driver, in a process of its own. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Ask, Driver, Told, Watch } from './driver.ts'
import { pythonVersion } from './install.ts'

const script = fileURLToPath(new URL('drivers/openai_python.py', import.meta.url))

interface Running {
  text(piece: string): void
  end: PromiseWithResolvers<Told>
}

/** `python` is one that has the package. The process ends with ours, whose pipe it reads. */
export function pythonDriver(python: string): Driver {
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'pipe'] })
  const calls: Running[] = []
  const write = (line: object) => child.stdin.write(`${JSON.stringify(line)}\n`)
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (part) => (complaints += part))
  child.on('close', () => {
    for (const { end } of calls) end.reject(new Error(complaints))
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, text, told } = JSON.parse(line)
    if (text !== undefined) calls[id]?.text(text)
    else calls[id]?.end.resolve(told)
  })

  const call = (how: string, ask: Ask, { text = () => {}, signal }: Watch = {}): Promise<Told> => {
    const id = calls.length
    const end = Promise.withResolvers<Told>()
    calls.push({ text, end })
    write({ id, how, ask })
    signal?.addEventListener('abort', () => write({ id, abort: true }))
    return end.promise
  }
  return {
    name: 'openai (Python)',
    version: pythonVersion,
    helperName: '`chat.completions.stream()`',
    usageBy: '`stream_options`',
    aborts: true,
    whole: (ask, watch) => call('whole', ask, watch),
    stream: (ask, watch) => call('stream', ask, watch),
    helper: (ask) => call('helper', ask),
  }
}
