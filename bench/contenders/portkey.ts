import type { Contender } from '../runner/contender.ts'
import { installPeer, peerFlags, startPeer } from './peer.ts'
import manifest from './portkey/package.json' with { type: 'json' }

/**
 * Portkey's AI gateway on Node, as started by `npx @portkey-ai/gateway`, without its log page. Stores nothing.
 * @hono/node-server is overridden with 1.3.3, the oldest that it allows: with newer ones every stream returns 500.
 */
const portkey: Contender = {
  name: 'portkey',
  title: 'Portkey',
  keeps: 'nothing',
  versions: { ...manifest.dependencies, ...manifest.overrides },
  flags: `${peerFlags} --headless`,
  async start({ upstreamUrl, folder }) {
    const installed = await installPeer('portkey')
    const server = `${installed}/node_modules/@portkey-ai/gateway/build/start-server.js`
    const args = (port: number) => [server, `--port=${port}`, '--headless']
    const { url, pid, ...peer } = await startPeer({ args, cwd: folder, env: {}, ready: '/' })
    return {
      ...peer,
      open: async () => '',
      ask: (_session, prompt, stream) => ({
        url: `${url}/v1/chat/completions`,
        headers: {
          authorization: 'Bearer none',
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': upstreamUrl,
        },
        body: JSON.stringify({ model: 'bench', stream, messages: [{ role: 'user', content: prompt }] }),
      }),
      pids: () => [pid],
    }
  },
}

export const contenders: readonly Contender[] = [portkey]
