/** An agent's MCP face, asked by the SDKs' own clients of both eras, and by hand. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  bearer,
  DEPLOY_KEY,
  type FrontDoor,
  type FrontDoorOptions,
  openFrontDoor,
} from '../../../features/users/access/front-door-scene.ts'
import type { TestApp } from '../../../support/app.ts'
import { call } from '../../scene.ts'

export type Era = 'modern' | 'legacy'
export const eras: readonly Era[] = ['modern', 'legacy']

/** What the result of `ask` looks like. */
export interface Answered {
  isError?: boolean
  content: { type: string; text: string }[]
  structuredContent: { text: string; session_id: string; message_id: string; status: string }
}

export interface AskOptions {
  meta?: Record<string, unknown>
  signal?: AbortSignal
  onProgress?: (progress: number) => void
}

export type FaceScene = Awaited<ReturnType<typeof openFaceScene>>

export async function openFaceScene(options: FrontDoorOptions = {}) {
  const door: FrontDoor = await openFrontDoor(options)
  const path = `${door.deploy()}/mcp`
  const message = (body: unknown, { token = DEPLOY_KEY, app = door.here, headers = {} }: ByHand = {}) =>
    call(`${app.url}${path}`, 'POST', body, {
      accept: 'application/json, text/event-stream',
      ...bearer(token),
      ...headers,
    })
  return {
    ...door,
    path,
    /** One JSON-RPC message of the revision of 2025-11-25, as text on the wire. */
    message,
    /** Connects the SDK's client. */
    async client(era: Era, { token = DEPLOY_KEY, app = door.here }: ByHand = {}) {
      const url = new URL(`${app.url}${path}`)
      const requestInit = { headers: bearer(token) }
      const client =
        era === 'modern'
          ? new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
          : new OldClient({ name: 'test', version: '1' })
      if (client instanceof Client) await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      else await client.connect(new OldTransport(url, { requestInit }) as Transport)
      return {
        client,
        async ask(args: Record<string, unknown>, { meta, signal, onProgress }: AskOptions = {}): Promise<Answered> {
          const params = { name: 'ask', arguments: args, ...(meta && { _meta: meta }) }
          const options = {
            ...(signal && { signal }),
            ...(onProgress && { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
          }
          const answer =
            client instanceof Client
              ? await client.callTool(params, options)
              : await client.callTool(params, undefined, options)
          return answer as unknown as Answered
        },
        async [Symbol.asyncDispose]() {
          await client.close()
        },
      }
    },
    async stored(): Promise<number> {
      const [row] = await door.sql<{ n: number }[]>`select count(*)::integer as n from messages`
      return row?.n ?? 0
    },
  }
}

interface ByHand {
  token?: string
  app?: TestApp
  headers?: Record<string, string>
}
