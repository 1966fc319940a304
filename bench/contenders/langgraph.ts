import { cp, symlink } from 'node:fs/promises'
import type { Contender } from '../contender.ts'
import manifest from './langgraph/package.json' with { type: 'json' }
import { installPeer, post, startPeer } from './peer.ts'

/** A run occupies a worker until it ends: fewer than the 500 streams of `paced-500` would cap that case. */
const WORKERS = 600
const options = ['dev', '--no-reload', '--no-browser', '-n', `${WORKERS}`]

/**
 * LangGraph's JavaScript server with a graph of one node that calls the model. It keeps threads and runs in
 * its memory and writes all of them to files three seconds after the last change: a crash loses them. As it starts it
 * calls itself a server for development (and sets NODE_ENV so) and points to a deployment service, which is no package;
 * this is what can be installed. `messages-tuple` is the mode that sends what is new; `messages` repeats the whole text
 * with each token. It streams from the model even when its own answer is not streamed, and ends each
 * reply about 500 ms after the last token: it then polls (storage/ops.mjs, `join`).
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
