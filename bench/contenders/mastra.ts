import type { Contender, Running, Scene } from '../runner/contender.ts'
import manifest from './mastra/package.json' with { type: 'json' }
import { installPeer, peerFlags, post, startPeer } from './peer.ts'

/** Mastra's server as built by `mastra build`, an agent with memory: threads on PostgreSQL, the last ten messages sent. */
const mastra: Contender = {
  name: 'mastra',
  title: 'Mastra, stored',
  keeps: 'thread',
  versions: manifest.dependencies,
  flags: peerFlags,
  async start(scene) {
    const { url, ...running } = await startServer(scene, { DATABASE_URL: await scene.database() })
    const resource = 'bench'
    return {
      ...running,
      async open() {
        const thread = await post(`${url}/api/memory/threads?agentId=threads`, { resourceId: resource })
        return String(thread.id)
      },
      ask: (thread, prompt, stream) => askAgent(url, 'threads', prompt, stream, { memory: { thread, resource } }),
    }
  },
}

/**
 * The same server without storage and an agent without memory: stores nothing. With storage it would write and delete a
 * workflow snapshot for each reply, even without memory.
 */
const mastraStateless: Contender = {
  name: 'mastra-stateless',
  title: 'Mastra, stateless',
  keeps: 'nothing',
  versions: manifest.dependencies,
  flags: peerFlags,
  async start(scene) {
    const { url, ...running } = await startServer(scene, {})
    return {
      ...running,
      open: async () => '',
      ask: (_session, prompt, stream) => askAgent(url, 'plain', prompt, stream, {}),
    }
  },
}

const askAgent = (url: string, agent: string, prompt: string, stream: boolean, more: object) => ({
  url: `${url}/api/agents/${agent}/${stream ? 'stream' : 'generate'}`,
  body: JSON.stringify({ messages: [{ role: 'user', content: prompt }], ...more }),
})

type Server = Pick<Running, 'pids' | typeof Symbol.asyncDispose> & { url: string }

async function startServer({ upstreamUrl, folder }: Scene, more: Record<string, string>): Promise<Server> {
  const installed = await installPeer('mastra')
  const { pid, ...peer } = await startPeer({
    args: () => [`${installed}/.mastra/output/index.mjs`],
    cwd: folder,
    env: {
      UPSTREAM_URL: upstreamUrl,
      MASTRA_HOST: '127.0.0.1',
      MASTRA_TELEMETRY_DISABLED: '1',
      ...more,
    },
    ready: '/health',
  })
  return { ...peer, pids: () => [pid] }
}

export const contenders: readonly Contender[] = [mastraStateless, mastra]
