import { operations } from '../../operation.ts'
import { ClientSecret, ClientSecretRequest } from '../../schemas/deploy/client-secrets.ts'

export const clientSecrets = operations({
  createClientSecret: {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/deploy/client_secrets',
    scope: 'deploy',
    summary: "Make a secret with which a browser reaches one user's sessions",
    description:
      "Asked for by a backend, with the deploy key. A web page sends it as its bearer token, or on streams as `access_token`. It opens the user's sessions with this agent and nothing else, on every instance, until it expires or is revoked; a stream that is open by then goes on to the reply's end.",
    body: ClientSecretRequest,
    refusesUnknown: true,
    responses: { 201: ClientSecret },
    errors: { 404: "There is no such agent, or `session_id` is no session of this agent's and user's." },
  },
})
