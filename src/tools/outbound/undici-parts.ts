/// <reference path="./undici.d.ts" />
/** The client of outbound calls, loaded in parts. */
import { inParts } from '../../async/in-parts.ts'

/** The loading of undici, by files that its package does not promise: its version is pinned. */
export const loadUndici: () => Promise<void> = inParts([
  () => import('node:tls'),
  () => import('node:http2'),
  () => import('undici/lib/core/util.js'),
  () => import('undici/lib/dispatcher/client.js'),
  () => import('undici/lib/web/fetch/headers.js'),
  () => import('undici/lib/web/fetch/index.js'),
  () => import('undici/lib/web/websocket/websocket.js'),
  () => import('undici/lib/mock/snapshot-agent.js'),
  () => import('undici/lib/interceptor/cache.js'),
  () => import('undici'),
])
