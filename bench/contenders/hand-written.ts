/** A hand-written server: Fastify and the official client, in thirty lines; and the same with two commits a reply. */
import { readFileSync } from 'node:fs'
import type { Contender } from '../runner/contender.ts'
import { ownFlags, startServer } from './chat-completions.ts'

const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const contenders: Contender[] = [
  {
    name: 'hand-written',
    title: 'hand-written',
    keeps: 'nothing',
    versions: { fastify: dependencies.fastify, openai: dependencies.openai },
    flags: ownFlags,
    start: ({ upstreamUrl }) => startServer(new URL('hand-written-server.ts', import.meta.url), upstreamUrl),
  },
  {
    name: 'hand-written-stored',
    title: 'hand-written, two commits',
    keeps: 'thread',
    versions: { fastify: dependencies.fastify, openai: dependencies.openai, postgres: dependencies.postgres },
    flags: ownFlags,
    start: async ({ upstreamUrl, database }) =>
      startServer(new URL('hand-written-stored-server.ts', import.meta.url), upstreamUrl, await database()),
  },
]
