import { operations } from '../../operation.ts'
import { AgUiCapabilities, agUiEvents, RunAgentInput } from '../../schemas/deploy/ag-ui.ts'
import { overLimit } from '../../schemas/limits.ts'

export const agUi = operations({
  runAgUi: {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/deploy/ag-ui',
    scope: 'deploy',
    secret: 'handler',
    summary: 'Run the agent on the newest user message; the answer is a stream of AG-UI events',
    description:
      'For AG-UI’s `HttpAgent` and what is built on it. The history is the session’s. The reply goes on when the client leaves: the same run sent again is answered from its beginning.',
    body: RunAgentInput,
    streams: 'only',
    events: agUiEvents,
    responses: { 200: null },
    errors: {
      404: 'There is no such agent, or the session belongs to another one.',
      409: 'A reply is running, and `on_busy` is `reject`; nothing was stored.',
      429: overLimit,
      503: 'Draining, or too many replies run; see `Retry-After`.',
    },
  },
  readAgUiCapabilities: {
    method: 'get',
    path: '/api/v1/agents/{agent_id}/deploy/ag-ui/capabilities',
    scope: 'deploy',
    secret: 'handler',
    summary: 'What the AG-UI endpoint supports, as AG-UI’s `AgentCapabilities`',
    responses: { 200: AgUiCapabilities },
    errors: { 404: 'There is no such agent.' },
  },
})
