/** Readable lines at a terminal, and JSON elsewhere. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { readableLine } from '../../src/observability/readable-log.ts'
import { askSetUp } from '../support/database.ts'
import { dataFolder, startProduct } from '../support/programs/product.ts'

const esc = String.fromCharCode(27)
const withoutColour = (text: string) => text.replaceAll(new RegExp(`${esc}\\[\\d+m`, 'g'), '')

test('a line of the log has time, level, message, the fault and the details', () => {
  const record = { level: 40, time: 0, pid: 1, hostname: 'h', err: { message: 'it broke' }, code: 'x', msg: 'No.' }
  expect(withoutColour(readableLine(JSON.stringify(record)))).toMatch(
    /^\d\d:\d\d:\d\d warn {2}No\. \(it broke\) code=x$/,
  )
})

test('what others said cannot move the cursor', () => {
  const line = readableLine(JSON.stringify({ level: 30, time: 0, msg: 'ok', title: `${esc}[2J\n` }))
  expect(line).toContain('\\u001b[2J')
  expect(readableLine(`no JSON ${esc}[2J`)).toBe('no JSON \\u001b[2J')
})

test.runIf(process.platform === 'linux')('at a terminal the last line says what to open and what to type', async () => {
  await using folder = await dataFolder()
  const command = `exec ${process.execPath} ${await askSetUp('server')}`
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...process.env, PORT: '0', DATA_DIR: folder.path, LOG_LEVEL: 'info' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(withoutColour(line))
    if (line.startsWith('Open http')) break
  }
  expect(lines.at(-2)).toMatch(/^Greenroom listens on http/)
  expect(lines.filter((line) => line.startsWith('{'))).toEqual([])
  expect(lines.join('\n')).toMatch(/\d info {2}Created the demo agent\./)
  const typed = /or type: (.+)$/.exec(lines.at(-1) ?? '')?.[1] ?? 'false'
  const curl = spawn('bash', ['-c', typed], { stdio: ['ignore', 'pipe', 'ignore'] })
  let answer = ''
  for await (const part of curl.stdout) answer += part
  expect(answer).toContain('data: [DONE]')
  child.stdin.write('\x03')
  await once(child, 'exit')
})

test('elsewhere the log is JSON on standard output', async () => {
  await using product = await startProduct({ direct: true, env: { LOG_LEVEL: 'info' } })
  expect(product.stdout.map((line) => JSON.parse(line).msg)).toContain('Created the demo agent.')
  expect(product.stderr).toEqual([expect.stringMatching(/^Greenroom listens on /)])
})
