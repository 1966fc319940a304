/** The rules of contract section 25, what people bring: a part of requirements.ts. */
export const frontDoor = {
  'contract-25.ids-of-front-ends':
    'A chat’s or thread’s id may be any string; one that is no UUID is external_id, one for each agent and user.',
  'contract-25.external-id': 'Session records carry external_id; creating takes it, lists find by it, forks have none.',
  'contract-25.tools-object': 'tools of the AI SDK’s endpoint may be an object by name; empty ones count as absent.',
  'contract-25.busy': 'The next message from a chat page interrupts; on_busy may say otherwise; joins come first.',
  'contract-25.regenerate-unsent': 'regenerate-message of a message that was never stored sends it.',
  'contract-25.regenerate-run':
    'A run that ends in a user message of the thread, by id and text, is another reply to it; under a new id it is a message.',
  'contract-25.cancelled-run': 'A cancelled reply ends with a plain RUN_FINISHED, without outcome.',
  'contract-25.caller-instructions':
    'callerInstructions append puts a request’s system messages behind the agent’s prompt; refuse is 400; a secret’s are 403.',
  'contract-25.page-instructions': 'Front ends’ system messages are left out and named by refuse, and taken by append.',
  'contract-25.cors':
    'A preflight of an origin that is not listed is 403 that names it and allowedOrigins, logged now and then.',
  'contract-25.paths':
    'Doubled slashes and one at the end are as if they were not there, before key and scope are judged.',
  'contract-25.unknown-paths': 'An unknown deploy path names the nearest one, or the methods that exist.',
  'contract-25.models': 'models/<id> exists on both lists of models.',
  'contract-25.demo': 'The demo honours max_tokens, max_completion_tokens and stop, and takes parts.',
  'contract-25.unknown-parameters': 'A list refuses query parameters that it does not have, by name.',
  'contract-25.titles': 'A derived title is set when the first message is admitted; a model’s replaces it later.',
  'contract-25.two-editors':
    'Management records have an ETag; a PUT with an older If-Match is 412 that names what has changed.',
  'contract-25.client-creation':
    '@greenroom/client chooses a session’s id itself: 409 on its own repeat means that it is made.',
  'contract-25.unknown-fields':
    'Unknown fields are refused when a session is created or changed, and in client_secrets.',
} as const
