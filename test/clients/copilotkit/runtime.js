/**
 * CopilotKit's runtime as its documentation sets it up, in front of the agent whose AG-UI address is in AG_UI, on PORT.
 * `/copilotkit` is the runtime with its defaults, `/superseding` one whose next message replaces a running one.
 */
import { createServer } from 'node:http'
import { env } from 'node:process'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime, InMemoryAgentRunner } from '@copilotkit/runtime/v2'
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node'

const listener = (basePath, options) => {
  const agents = { default: new HttpAgent({ url: env.AG_UI }) }
  const runtime = new CopilotRuntime({ agents, runner: new InMemoryAgentRunner(options) })
  return createCopilotNodeListener({ runtime, basePath, cors: true })
}
const byDefault = listener('/copilotkit', {})
const superseding = listener('/superseding', { onConcurrentRun: 'supersede' })

createServer((request, response) => {
  const handle = request.url.startsWith('/superseding') ? superseding : byDefault
  handle(request, response)
}).listen(Number(env.PORT), '127.0.0.1')
