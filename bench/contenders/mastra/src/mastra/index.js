import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { Memory } from '@mastra/memory'
import { PostgresStore } from '@mastra/pg'

const { UPSTREAM_URL: url, DATABASE_URL: connectionString } = process.env
const model = { id: 'bench/bench', url, apiKey: 'none' }
const instructions = 'You are helpful.'

export const mastra = new Mastra({
  agents: {
    threads: new Agent({ id: 'threads', name: 'Threads', instructions, model, memory: new Memory() }),
    plain: new Agent({ id: 'plain', name: 'Plain', instructions, model }),
  },
  ...(connectionString && { storage: new PostgresStore({ id: 'storage', connectionString }) }),
  logger: false,
})
