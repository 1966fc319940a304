import type { Contender, Running, Scene } from '../runner/contender.ts'
import manifest from './ai-sdk/package.json' with { type: 'json' }
import { installPeer, peerFlags, startPeer } from './peer.ts'

/** The AI SDK behind node:http (ai-sdk/server.mjs): UI message streams, which is what its own hooks read. Keeps nothing. */
const aiSdk: Contender = {
  name: 'ai-sdk',
  title: 'AI SDK (plain)',
  keeps: 'nothing',
  versions: manifest.dependencies,
  flags: peerFlags,
  start: (scene) => startServer(scene, {}),
}

/**
 * The same with resumable-stream on Redis, set up as in the SDK's guide to resuming streams. The client reads the stream
 * directly; Redis records that it exists and relays it only to those who resume it. The guide leaves the store of chats
 * and messages to the user: here it is in memory, so that no store of ours is measured. A reply that is not streamed is
 * not stored at all.
 */
const aiSdkResumable: Contender = {
  name: 'ai-sdk-resumable',
  title: 'AI SDK + resumable-stream',
  keeps: 'stream',
  versions: manifest.dependencies,
  flags: peerFlags,
  start: async (scene) => startServer(scene, { REDIS_URL: await scene.redis() }),
}

async function startServer({ upstreamUrl, folder }: Scene, more: Record<string, string>): Promise<Running> {
  const installed = await installPeer('ai-sdk')
  const env = { UPSTREAM_URL: upstreamUrl, ...more }
  const args = () => [`${installed}/server.mjs`]
  const { url, pid, ...peer } = await startPeer({ args, cwd: folder, env, ready: '/chat/none/stream' })
  return {
    ...peer,
    open: async () => crypto.randomUUID(),
    ask: (id, prompt, stream) => ({
      url: `${url}/chat`,
      body: JSON.stringify({
        id,
        stream,
        message: { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: prompt }] },
      }),
    }),
    pids: () => [pid],
  }
}

export const contenders: readonly Contender[] = [aiSdk, aiSdkResumable]
