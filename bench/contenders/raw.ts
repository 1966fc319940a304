/** Pipes bytes through node:http and does nothing else: the limit. */
import type { Contender } from '../runner/contender.ts'
import { ownFlags, startServer } from './chat-completions.ts'

export const contenders: Contender[] = [
  {
    name: 'raw',
    title: 'raw',
    keeps: 'nothing',
    versions: { node: process.version },
    flags: ownFlags,
    start: ({ upstreamUrl }) => startServer(new URL('raw-server.ts', import.meta.url), upstreamUrl),
  },
]
