/** The command: exit codes, lines, `--json`, `--setup`, adapters from files, SIGINT (contract section 34). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checksOf } from '../../packages/conformance/src/checks/index.ts'
import { runCommand } from '../../packages/conformance/src/command.ts'
import { readOptions } from '../../packages/conformance/src/options.ts'
import { createReport } from '../../packages/conformance/src/report.ts'
import { temporaryFolder } from '../support/folder.ts'
import { statOf } from '../support/process-tree.ts'
import { freePort } from '../support/programs/free-port.ts'
import { verifies } from '../verifies.ts'

const main = fileURLToPath(new URL('../../packages/conformance/src/main.ts', import.meta.url))

function start(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const said = new EventTarget()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text
      said.dispatchEvent(new Event('said'))
    })
  const ended = once(child, 'close').then(([code]) => Number(code))
  return {
    child,
    output: () => output,
    ended,
    async says(pattern: RegExp) {
      while (!pattern.test(output)) await Promise.race([once(said, 'said'), ended])
    },
  }
}

/** Runs the command without a process of its own. */
async function run(...args: string[]) {
  let output = ''
  const out = { write: (text: string) => (output += text) }
  const code = await runCommand(args, { out, err: out, signal: new AbortController().signal })
  return { code, lines: output.trimEnd().split('\n') }
}

/** An adapter of forty lines, as a user writes one: a server that is not there, in memory. */
const adapter = `
export const name = 'mine'
export const offers = ['createConversation', 'send', 'read']
const said = []
export const createConversation = async () => '1'
export async function* send(conversation, text, { key, signal }, { url, agent, key: token }) {
  said.push({ text, facts: [url, agent, token] })
  yield { id: '1', text: 'word1 word2 word3 word4 word5 ' }
  if (!text.includes('hang')) yield { id: '2', end: 'complete', reply: '1' }
}
export const read = () => new Promise(() => setInterval(() => {}, 1000))
`

async function withAdapter() {
  const folder = await temporaryFolder('conformance')
  const file = join(folder, 'mine.mjs')
  await writeFile(file, adapter)
  return { folder, file }
}

verifies('contract-34.command', 'wrong use is exit 2 and one line that names it', async () => {
  const some = ['--adapter', 'greenroom', '--url', 'http://127.0.0.1:1']
  const { file } = await withAdapter()
  await writeFile(file, adapter.replace("'read'", "'read', 'cancel'")) // which it has not
  for (const [args, named] of [
    [['--nope'], /--nope/],
    [['--adapter', 'nobody', '--url', 'http://127.0.0.1:1'], /"nobody".*greenroom/],
    [['--adapter', './nowhere.mjs', '--url', 'http://127.0.0.1:1'], /nowhere\.mjs/],
    [[...some, '--level', 'all'], /"all".*cluster/],
    [[...some, '--level', 'durable', '--kill', 'true'], /--kill and --start/],
    [[...some, '--level', 'cluster', '--kill', 'true', '--start', 'true'], /--url2/],
    [[...some, '--url2', 'nowhere'], /"nowhere"/],
    [['--adapter', file, ...some.slice(2)], /is no adapter/],
    [[...some, '--only', '('], /"\("/],
    [[...some, '--timeout', 'soon'], /"soon"/],
    [[...some, '--timeout', '0'], /"0"/],
    [[...some, '--model-port', '1.5'], /"1\.5"/],
    [[...some, '--model-port', '65536'], /"65536"/],
    [['--adapter', 'greenroom'], /--url is missing/],
  ] as const) {
    const { code, lines } = await run(...args)
    expect([code, lines], args.join(' ')).toEqual([2, [expect.stringMatching(named)]])
  }
})

verifies(
  'contract-34.command',
  'outcomes are lines, a last line and JSON; a server that is away is an error',
  async () => {
    const { folder, file } = await withAdapter()
    const nobody = `http://127.0.0.1:${await freePort()}` // fetch refuses port 1 itself
    const json = join(folder, 'out.json')
    const only = 'stream.(whole|one-end)|resume.after-end'
    const mine = await run('--adapter', file, '--url', 'http://127.0.0.1:1/base/', '--only', only, '--json', json)
    expect(mine.code).toBe(1)
    expect(mine.lines[0]).toMatch(/^The model listens on http:\/\/127\.0\.0\.1:\d+\/v1$/)
    expect(mine.lines.slice(1)).toEqual([
      expect.stringMatching(/^ {2}fail +stream\.whole +\d+\.\d s$/),
      expect.stringMatching(
        /^ +The streamed text: expected 271 characters and got 30; at offset 30 expected .*its end\.$/,
      ),
      expect.stringMatching(/^ {2}pass +stream\.one-end/),
      expect.stringMatching(/^ {2}not offered +resume\.after-end/),
      '1 passed, 1 failed, 1 not offered, 0 errors (level resume)',
    ])
    expect(JSON.parse(await readFile(json, 'utf8'))).toEqual({
      ...{ suite: 'greenroom-conformance', version: '0.1.0', adapter: 'mine', level: 'resume' },
      ...{ url: 'http://127.0.0.1:1/base', startedAt: expect.stringMatching(/^\d{4}-/), ms: expect.any(Number) },
      checks: ['fail', 'pass', 'not offered'].map((result) => ({
        ...{ id: expect.any(String), level: expect.any(String), result, ms: expect.any(Number) },
        message: result === 'pass' ? null : expect.any(String),
      })),
    })
    expect(await readdir(folder)).toHaveLength(2)
    const away = await run('--adapter', 'ai-sdk', '--url', nobody, '--only', 'stream.whole')
    expect([away.code, away.lines.at(-1)]).toEqual([1, '0 passed, 0 failed, 0 not offered, 1 errors (level resume)'])
    const good = await run('--adapter', file, '--url', 'http://127.0.0.1:1', '--only', 'one-end|after-end')
    expect([good.code, good.lines.at(-1)]).toEqual([0, '1 passed, 0 failed, 1 not offered, 0 errors (level resume)'])
  },
)

verifies('contract-34.command', '--help, --version and --list say what there is', async () => {
  const list = await run('--list')
  const ids = list.lines.filter((line) => !line.startsWith(' ')).map((line) => line.split(' ', 1)[0])
  expect([list.code, ids]).toEqual([0, checksOf('cluster', null).map(({ id }) => id)])
  expect(await run('--version')).toEqual({ code: 0, lines: ['0.1.0'] })
  const wrong = start('--nope')
  expect([await wrong.ended, wrong.output()]).toEqual([2, expect.stringMatching(/^[^\n]*--nope[^\n]*\n$/)])
  const help = await run('--help')
  expect([help.code, help.lines[0]]).toEqual([0, expect.stringContaining('--adapter <name or file> --url <base URL>')])
  const unsaid = { level: 'resume', timeoutMs: 30_000, modelPort: 0, only: null, json: null }
  expect(readOptions(['--adapter', 'mine', '--url', 'http://127.0.0.1:1'])).toMatchObject(unsaid)
})

verifies('contract-34.command', '--setup knows the model, and a wait that runs out is a failure', async () => {
  const { folder, file } = await withAdapter()
  const told = join(folder, 'told')
  const silent = join(folder, 'silent.mjs')
  await writeFile(silent, adapter.replace(/said\.push.*/, 'yield await new Promise(() => {})'))
  const some = ['--url', 'http://127.0.0.1:1', '--setup', `echo $MODEL_URL > ${told}`, '--only', 'one-end']
  const { code, lines } = await run('--adapter', file, ...some)
  expect([code, `${lines[0]}\n`]).toEqual([0, `The model listens on ${await readFile(told, 'utf8')}`])
  const broken = await run('--adapter', file, ...some, '--setup', 'exit 3')
  expect([broken.code, broken.lines.at(-1)]).toEqual([1, '--setup ended with 3: exit 3'])
  const late = await run('--adapter', silent, ...some, '--timeout', '0.2')
  expect([late.code, late.lines.slice(1)]).toEqual([
    1,
    [
      expect.stringMatching(/^ {2}fail +stream\.one-end/),
      expect.stringMatching(/^ +Within 0\.2 s: expected /),
      '0 passed, 1 failed, 0 not offered, 0 errors (level resume)',
    ],
  ])
})

verifies(
  'contract-34.command',
  'an adapter is told the server, the agent and the key; a failure is one line',
  async () => {
    const { file } = await withAdapter()
    const told =
      '(target) => { throw Object.assign(new Error([target.url, target.url2, target.agent, target.key].join("\\n")), { status: 400 }) }'
    await writeFile(file, adapter.replace("async () => '1'", told))
    const port = String(await freePort())
    const args = [
      '--url',
      'http://127.0.0.1:1',
      '--url2',
      'http://127.0.0.1:2',
      '--agent',
      'a',
      '--key',
      'k',
      '--only',
      'whole',
    ]
    const { lines } = await run('--adapter', file, ...args, '--model-port', port)
    expect([lines[0], lines[2]?.trim()]).toEqual([
      `The model listens on http://127.0.0.1:${port}/v1`,
      'http://127.0.0.1:1 http://127.0.0.1:2 a k',
    ])
  },
)

test('on a terminal the check that runs is shown, until its outcome takes its place', () => {
  const written: string[] = []
  const report = createReport({ write: (text) => written.push(text), isTTY: true }, 4)
  const [check] = checksOf('stream', null)
  if (!check) throw new Error('there is no check')
  report.begin(check)
  expect(written.join('')).toContain('…')
  report.end({ id: check.id, level: check.level, result: 'pass', ms: 100, message: null })
  expect(written.at(-2)).toBe('\r\x1b[2K')
  expect(written.at(-1)).toContain(check.id)
})

verifies('contract-34.interrupt', 'what it has is told, and what it started ends with it', async () => {
  const { folder, file } = await withAdapter()
  const pid = join(folder, 'pid')
  const level = ['--level', 'durable', '--kill', 'true', '--start', `echo $$ > ${pid}; MODEL=$MODEL_URL exec sleep 300`]
  const only = ['--only', 'one-end|reader-leaves', '--timeout', '60']
  const { child, ended, output, says } = start('--adapter', file, '--url', 'http://127.0.0.1:1', ...level, ...only)
  await says(/listens/)
  await expect.poll(() => readFile(pid, 'utf8').catch(() => '')).toMatch(/\d/)
  const begin = performance.now()
  child.kill('SIGINT')
  expect(await ended).toBe(1)
  expect(performance.now() - begin).toBeLessThan(2000)
  expect(output()).not.toMatch(/ at /)
  await expect.poll(async () => await statOf(Number(await readFile(pid, 'utf8')))).toBeNull()
})

verifies('contract-34.interrupt', 'in the middle of a check those before it are told and written', async () => {
  const { folder, file } = await withAdapter()
  const json = join(folder, 'out.json')
  const some = ['--adapter', file, '--url', 'http://127.0.0.1:1', '--only', 'one-end|reader-leaves', '--timeout', '60']
  const { child, ended, output, says } = start(...some, '--json', json)
  await says(/pass +stream\.one-end/)
  child.kill('SIGINT')
  expect(await ended).toBe(1)
  expect(output()).toMatch(/\n1 passed, 0 failed, 0 not offered, 0 errors \(level resume\)\n$/)
  expect(JSON.parse(await readFile(json, 'utf8')).checks).toMatchObject([{ id: 'stream.one-end', result: 'pass' }])
})

verifies('contract-34.command', 'the README begins with a run of the level durable, each check in it', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const [, shown = ''] = /^# Greenroom\n\n```text\n(.*?)```/s.exec(readme) ?? []
  const ids = checksOf('durable', null).map(({ id }) => id)
  expect([...shown.matchAll(/^ {2}pass +(\S+) +[\d.]+ s$/gm)].map(([, id]) => id)).toEqual(ids)
  expect(shown).toContain(`\n${ids.length} passed, 0 failed, 0 not offered, 0 errors (level durable)\n`)
})
