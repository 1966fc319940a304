/** Databases for tests, on the real PostgreSQL that `global-setup.ts` starts once for each run. */
import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import type { Sql } from '../../src/persistence/postgres/database.ts'
import { connect } from '../../src/persistence/postgres/database.ts'

export type ServerVersion = 18 | 15

export interface FreshDatabase {
  url: string
  /** A pool of four as superuser, without the service's timeouts. */
  sql: Sql
  /** Closes `sql`, ends every other connection and drops the database. */
  drop(): Promise<void>
}

const options = { name: 'test', timeoutMs: 0 }

/**
 * Returns a new database, by default on PostgreSQL 18 and with all tables (`empty: true`: none). Use one for each test
 * file or test: it costs about 0.1 s. The first call for version 15 starts that server.
 */
export async function freshDatabase(wanted: { version?: ServerVersion; empty?: boolean } = {}): Promise<FreshDatabase> {
  const server = await serverUrl(wanted.version ?? 18)
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = adminOf(server)
  await admin.unsafe(`create database ${name} template ${wanted.empty ? 'template0' : 'greenroom_template'}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const sql = connect(url.href, { ...options, max: 4 })
  const drop = async () => {
    await sql.end({ timeout: 1 })
    await admin.unsafe(`drop database if exists ${name} with (force)`)
  }
  return { url: url.href, sql, drop }
}

const admins = new Map<string, Sql>()

/**
 * Returns the one connection for all test files of this process: a connection costs PostgreSQL 20 ms of processor time.
 * It ends with the process.
 */
function adminOf(server: string): Sql {
  const admin = admins.get(server) ?? connect(server, { ...options, max: 1 })
  admins.set(server, admin)
  return admin
}

/** Runs one statement on a separate connection. */
export async function once(url: string, statement: string): Promise<void> {
  const sql = connect(url, { ...options, max: 1 })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

async function serverUrl(version: ServerVersion): Promise<string> {
  const answer = await askSetUp(`${version}`)
  if (!answer.startsWith('postgres://')) throw new Error(answer)
  return answer
}

/** Requests a shared resource from the setup process, through a socket with a text protocol. */
export async function askSetUp(wanted: string): Promise<string> {
  const socket = createConnection(inject('serverBroker'))
  socket.end(`${wanted}\n`)
  return await text(socket)
}
