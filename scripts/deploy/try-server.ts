/**
 * Two instances on the DATABASE_URL and cache of the environment: a reply begun on one is resumed and cancelled through the
 * other, and one that dies with its instance ends as `instance_lost`. For the versions that the tests do not bring.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { env, execPath } from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

const children: ChildProcess[] = []

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(execPath, ['src/main.ts'], {
    cwd: root,
    env: { SECRET_KEY: 'try', ...env, PORT: '0', LOG_LEVEL: 'warn', OWNER_LEASE_MS: '3000' },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  children.push(child)
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line)
    const url = /^Greenroom listens on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error(lines.join('\n'))
}

async function json(url: string, body?: object): Promise<Record<string, string>> {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, init)
  expectThat(response.ok, `${url}: ${response.status} ${await response.clone().text()}`)
  return Object(response.status === 204 ? {} : await response.json())
}

const say = (content: string) => ({ stream: true, messages: [{ role: 'user', content }] })

/** Resolves once the reply has sent a token. */
async function begin(session: string, content: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(say(content)) }
  const { body } = await fetch(`${session}/chat/completions`, init)
  const reader = body?.getReader()
  for (let text = ''; !/"content":"\S/.test(text); ) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
    expectThat(!done, `The stream ended: ${text}`)
    text += new TextDecoder().decode(value)
  }
  await reader?.cancel()
}

const follow = async (session: string): Promise<string> =>
  await (await fetch(`${session}/chat/completions/stream`)).text()

expectThat(env.DATABASE_URL !== undefined, 'DATABASE_URL is not set.')
try {
  const [one, other] = [await start(), await start()]
  const name = `try ${Date.now()}`
  const provider = await json(`${one.url}/api/v1/settings/providers`, { name, providerType: 'demo' })
  const agent = await json(`${one.url}/api/v1/agents`, { name, providerId: provider.id, model: 'demo' })
  const deploy = (url: string) => `${url}/api/v1/agents/${agent.id}/deploy/sessions`
  const { id } = await json(deploy(one.url), {})

  await begin(`${deploy(one.url)}/${id}`, '/slow 200')
  const followed = follow(`${deploy(other.url)}/${id}`)
  await json(`${deploy(other.url)}/${id}/chat/completions/cancel`, {})
  expectThat((await followed).endsWith('data: [DONE]\n\n'), 'A cancelled reply was not followed to its end.')

  await begin(`${deploy(one.url)}/${id}`, '/slow 200')
  one.child.kill('SIGKILL')
  const lost = await follow(`${deploy(other.url)}/${id}`)
  expectThat(lost.includes('"code":"instance_lost"'), `A lost reply ended so: ${lost.slice(-300)}`)
  other.child.kill('SIGTERM')
  const [code] = await once(other.child, 'exit')
  expectThat(code === 0, `The other instance ended with ${code}.`)
  console.log('Resumed, cancelled and lost as it should be.')
} finally {
  for (const child of children) child.kill('SIGKILL')
}
