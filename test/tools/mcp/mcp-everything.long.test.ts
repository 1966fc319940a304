/** The published reference server, third-party code, as a separate process (contract section 6). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMcp, type Mcp, type McpServer } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound, type Outbound } from '../../../src/tools/outbound/outbound.ts'
import { createToolbox } from '../../../src/tools/toolbox.ts'
import { freePort } from '../../support/programs/free-port.ts'
import { toolboxConfig } from '../toolbox-config.ts'

const never = new AbortController().signal
const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

async function start(mode: 'streamableHttp' | 'sse', port: number): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, PORT: String(port) }
  const child = spawn(process.execPath, [program, mode], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk
      if (/listening on port|is running on port/.test(said)) resolve()
    })
    child.on('exit', (code) => reject(new Error(`The server ended with ${code}: ${said}`)))
  })
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const modes = [
  ['streamableHttp', 'streamable_http', '/mcp'],
  ['sse', 'sse', '/sse'],
] as const

describe.each(modes)('server-everything, %s', (mode, transport, path) => {
  let port: number
  let child: ChildProcess
  let outbound: Outbound
  let mcp: Mcp
  let server: McpServer
  const lines: object[] = []
  const log = { warn: (details: object) => void lines.push(details) }

  beforeEach(async () => {
    lines.length = 0
    port = await freePort()
    child = await start(mode, port)
    outbound = createOutbound({ policy: 'standard', allow: [] })
    mcp = createMcp({ outbound, log, times: { call: 5_000 } })
    const url = `http://127.0.0.1:${port}${path}`
    server = { id: 'e', name: 'Every_thing', transport, url, headers: {}, version: '1' }
  })

  afterEach(async () => {
    await mcp[Symbol.asyncDispose]()
    await outbound[Symbol.asyncDispose]()
    await stop(child)
  })

  test('its tools are offered and called through a toolbox', async () => {
    // A toolbox waits 3 s for a list, which the first one of a busy machine may take.
    await mcp.tools(server, never)
    const config = toolboxConfig({ mcpServers: [{ server, toolNames: ['*'] }] })
    const box = await createToolbox(config, { outbound, mcp, log }, never)
    const names = box.tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['Every_thing__echo', 'Every_thing__get-sum']))
    expect(lines).toEqual([])
    const call = (name: string, args: object) =>
      box.call({ id: '1', name: `Every_thing__${name}`, arguments: JSON.stringify(args) }, never, 'r:1')
    expect(await call('echo', { message: 'hello' })).toEqual({ ok: true, content: 'Echo: hello' })
    expect(await call('get-sum', { a: 2, b: 40 })).toEqual({ ok: true, content: expect.stringContaining('42') })
    expect(await call('get-sum', { a: 'two', b: 40 })).toEqual({
      ok: false,
      content: 'Every_thing__get-sum was not called: arguments/a must be number.',
    })
    const image = await call('get-tiny-image', {})
    expect(image.ok).toBe(true)
    expect(image.content).toMatch(/\[image: image\/png, \d+ bytes\]/)
    expect(image.pictures).toMatchObject([{ type: 'image_url', mediaType: 'image/png' }])
    const structured = await call('get-structured-content', { location: 'Chicago' })
    expect(structured.ok).toBe(true)
    expect(JSON.parse(structured.content)).toMatchObject({ temperature: expect.any(Number) })
    const links = await call('get-resource-links', { count: 2 })
    expect(links.content).toMatch(/\[resource: .+, .+:\/\/.+\]/)
  })

  test('a long call sends progress, and is awaited', async () => {
    const { ok, content } = await mcp.call(server, 'trigger-long-running-operation', { duration: 1, steps: 2 }, never)
    expect(ok).toBe(true)
    expect(content).toMatch(/completed/)
  })

  test('after a kill and a restart calls work again', async () => {
    expect((await mcp.call(server, 'echo', { message: 'a' }, never)).ok).toBe(true)
    await stop(child)
    const refused = await mcp.call(server, 'echo', { message: 'b' }, never)
    expect(refused).toMatchObject({ ok: false })
    child = await start(mode, port)
    expect(await mcp.call(server, 'echo', { message: 'c' }, never)).toEqual({ ok: true, content: 'Echo: c' })
    expect(await mcp.tools(server, never)).not.toEqual([])
  })
})
