import { cp, symlink } from 'node:fs/promises'
import type { Contender } from '../runner/contender.ts'
import manifest from './langgraph/package.json' with { type: 'json' }
import { installPeer, post, startPeer } from './peer.ts'

/** A run occupies a worker until it ends: fewer than the 500 streams of `paced-500` would cap that case. */
const WORKERS = 600
const options = ['dev', '--no-reload', '--no-browser', '-n', `${WORKERS}`]

/**
 * LangGraph's JavaScript server with a graph of one node that calls the model. It keeps threads and runs in memory and
 * writes all of them to files three seconds after the last change: a crash loses them. At its start it calls itself a
 * development server (and sets NODE_ENV accordingly) and points to a deployment service, which is not a package; this is
 * what can be installed. The mode `messages-tuple` sends increments; `messages` repeats the whole text with each token.
 * It streams from the model even when its own response is not streamed, and ends each reply about 500 ms after the last
 * token, because it polls then (storage/ops.mjs, `join`).
 */
const langgraph: Contender = {
  name: 'langgraph',
  title: 'LangGraph',
  keeps: 'thread',
  versions: manifest.dependencies,
  flags: options.join(' '),
  async start({ upstreamUrl, folder }) {
    const installed = await installPeer('langgraph')
    for (const file of ['graph.mjs', 'langgraph.json']) await cp(`${installed}/${file}`, `${folder}/${file}`)
    await symlink(`${installed}/node_modules`, `${folder}/node_modules`)
    const command = 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs'
    const { url, pid, ...peer } = await startPeer({
      args: (port) => [command, ...options, '--host', '127.0.0.1', '--port', String(port)],
      cwd: folder,
      env: {
        UPSTREAM_URL: upstreamUrl,
        LOG_LEVEL: 'error',
        LANGGRAPH_CLI_NO_ANALYTICS: '1',
        LANGSMITH_TRACING: 'false',
      },
      ready: '/ok',
    })
    return {
      ...peer,
      open: async () => String((await post(`${url}/threads`, {})).thread_id),
      ask: (thread, prompt, stream) => ({
        url: `${url}/threads/${thread}/runs/${stream ? 'stream' : 'wait'}`,
        body: JSON.stringify({
          assistant_id: 'chat',
          input: { messages: [{ role: 'human', content: prompt }] },
          ...(stream && { stream_mode: ['messages-tuple'] }),
        }),
      }),
      pids: () => [pid],
    }
  },
}

export const contenders: readonly Contender[] = [langgraph]
