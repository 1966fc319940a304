/** Contract section 26: a log that cannot be written stops nothing, and says later what is missing. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createLogWriter } from '../../src/observability/log-writer.ts'
import { verifies } from '../verifies.ts'

/** A disk that takes so many bytes more. */
function disk(room: number) {
  let text = ''
  const left = { room }
  const write = (bytes: Uint8Array): number => {
    const taken = bytes.subarray(0, left.room)
    if (taken.length === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    text += Buffer.from(taken).toString()
    left.room -= taken.length
    return taken.length
  }
  return { left, write, lines: () => text.split('\n').filter((line) => line !== '') }
}

const parsed = (line: string | undefined) => JSON.parse(line ?? '{}')

verifies(
  'contract-26.log-written',
  'lines that find no room are counted, and told of by the next one that does',
  () => {
    const full = disk(12)
    const log = createLogWriter({ write: full.write })
    for (const n of [1, 2, 3, 4]) log.write(`{"n":${n}}\n`)
    expect(full.lines()).toEqual(['{"n":1}', '{"n"']) // the second line is torn
    full.left.room = 10_000
    log.write('{"n":5}\n')
    const [first, torn, missing, last] = full.lines()
    expect([first, torn, last]).toEqual(['{"n":1}', '{"n"', '{"n":5}'])
    expect(parsed(missing)).toMatchObject({
      level: 40,
      missed: 3,
      msg: expect.stringContaining('could not be written'),
    })
  },
)

verifies('contract-26.log-written', 'also when nothing more is logged', async () => {
  const full = disk(0)
  const log = createLogWriter({ write: full.write, againMs: 5 })
  log.write('{"n":1}\n')
  full.left.room = 10_000
  for (let tries = 0; tries < 1000 && full.lines().length === 0; tries += 1) await wait(5)
  expect(full.lines().map(parsed)).toMatchObject([{ missed: 1 }])
})

verifies('contract-26.log-written', 'a pipe that is full for the moment is waited for', () => {
  let refusals = 3
  const text: string[] = []
  const log = createLogWriter({
    write(bytes) {
      if (refusals-- > 0) throw Object.assign(new Error('again'), { code: 'EAGAIN' })
      text.push(Buffer.from(bytes).toString())
      return bytes.length
    },
  })
  log.write('line\n')
  expect(text).toEqual(['line\n'])
})

const writesMuch = `
import { createLogWriter } from '${new URL('../../src/observability/log-writer.ts', import.meta.url)}'
const log = createLogWriter()
for (let n = 0; n < 100; n++) log.write('x'.repeat(10_000) + '\\n')
console.error('written')
`

verifies('contract-26.log-written', 'a pipe whose reader stands still holds nothing up', async () => {
  const pipeline = '"$NODE" --input-type=module --eval "$SCRIPT" | sleep 600'
  const shell = spawn('sh', ['-c', pipeline], {
    env: { ...process.env, NODE: process.execPath, SCRIPT: writesMuch },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // a group of its own, which is ended as one
  })
  onTestFinished(() => void process.kill(-Number(shell.pid), 'SIGKILL'))
  const { value } = await createInterface({ input: shell.stderr })[Symbol.asyncIterator]().next()
  expect(value).toBe('written')
})
