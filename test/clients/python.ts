/** The official Python client as a driver: a process for each call. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Ask, Driver, Told, Watch } from './driver.ts'
import { pythonVersion } from './install.ts'

const script = fileURLToPath(new URL('drivers/openai_python.py', import.meta.url))

/** `python` is one that has the package. */
export function pythonDriver(python: string): Driver {
  const call = async (how: string, ask: Ask, { text = () => {}, signal }: Watch = {}): Promise<Told> => {
    const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'pipe'] })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (part) => (complaints += part))
    child.stdin.write(`${JSON.stringify([how, ask])}\n`)
    signal?.addEventListener('abort', () => child.stdin.write('abort\n'))
    for await (const line of createInterface({ input: child.stdout })) {
      const { text: piece, told } = JSON.parse(line)
      if (piece !== undefined) text(piece)
      if (told === undefined) continue
      child.stdin.end()
      return told
    }
    throw new Error(complaints)
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
