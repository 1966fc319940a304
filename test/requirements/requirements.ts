/**
 * Every rule of the specification and the contract that this version builds, by section; every numbered part of the
 * specification has one at least. A section of the contract brings its rules when it is built. A test says which it
 * `verifies`; a whole run fails for each rule that no test verified that ran and passed.
 */
import { branches } from './requirements-branches.ts'
import { children } from './requirements-children.ts'
import { conformance } from './requirements-conformance.ts'
import { decisions } from './requirements-decisions.ts'
import { edges } from './requirements-edges.ts'
import { finding } from './requirements-finding.ts'
import { frontDoor } from './requirements-front-door.ts'
import { handover } from './requirements-handover.ts'
import { keys } from './requirements-keys.ts'
import { lasting } from './requirements-lasting.ts'
import { limits } from './requirements-limits.ts'
import { models } from './requirements-models.ts'
import { operating } from './requirements-operating.ts'
import { parts } from './requirements-parts.ts'
import { queue } from './requirements-queue.ts'
import { responses } from './requirements-responses.ts'
import { shares } from './requirements-shares.ts'
import { signIn } from './requirements-sign-in.ts'
import { told } from './requirements-told.ts'
import { tools } from './requirements-tools.ts'
import { values } from './requirements-values.ts'
import { versions } from './requirements-versions.ts'

export const requirements = {
  // ── specification ─────────────────────────────────────────────────────────────────────────────────────
  'spec-2.1.provider': 'A provider has id, name and type; its key is sent and never read back.',
  'spec-2.2.prompt': 'A prompt has id, name, content.',
  'spec-2.3.agent': 'An agent has id, name, providerId, model, promptId and generationConfig.',
  'spec-2.4.built-in-tool': 'A built-in tool has id, name, description; web_fetch is one.',
  'spec-2.5.http-tool': 'An HTTP tool has name, description, method, url, headers, body, inputSchema.',
  'spec-2.6.mcp-server': 'An MCP server has name, transport, url, headers.',
  'spec-2.7.agent-tools': 'The tools of an agent are httpToolIds, mcpServers with toolNames, builtInToolIds.',
  'spec-2.8.session': 'A deploy session has id, agent_id, title, created_at.',
  'spec-2.9.message': 'A deploy message has id, session_id, role, content, status, created_at.',
  'spec-2.10.request': 'A completion request has messages, at least one, by user or assistant, and stream.',
  'spec-2.11.completion': 'A completion that is not streamed has the wire format of section 2.11.',
  'spec-2.12.chunk': 'Chunks have the wire format of section 2.12.',
  'spec-2.13.playground-chat': 'A playground request has message, sessionId, configOverrides and tool arrays.',
  'spec-3.status': 'A message is complete, streaming or error; nothing else has a state.',
  'spec-4.1.health': '/livez and /readyz answer.',
  'spec-4.2.login': 'Status, login, logout and me answer as section 4.2 says.',
  'spec-4.3.provider-types': 'The supported provider types are listed with metadata.',
  'spec-4.4.providers': 'Providers are created, read, listed, changed, tested and deleted.',
  'spec-4.5.prompts': 'Prompts are created, read, listed, changed and deleted.',
  'spec-4.6.agents': 'Agents are created, read, listed, changed and deleted.',
  'spec-4.7.built-in-tools': 'Built-in tools are listed with id, name, description.',
  'spec-4.8.http-tools': 'HTTP tools are created, read, listed, changed and deleted.',
  'spec-4.9.mcp-servers': 'MCP servers are created, read, listed, changed and deleted.',
  'spec-4.10.agent-tools': 'The tools of an agent are read and chosen; unknown ids are 400.',
  'spec-4.11.stateless': 'Stateless completions take the full history and check it.',
  'spec-4.12.list':
    'Session lists are most recently updated first, contain every session, and are 404 for unknown agents.',
  'spec-4.12.messages': 'Message lists are oldest first, empty for a new session, 404 for another agent.',
  'spec-4.12.stateful': 'Only the last message is used; history comes from the session; both messages are stored.',
  'spec-4.12.reconnect': 'Last-Event-ID resumes from the next token; without it the reply is replayed.',
  'spec-4.12.cancel': 'Cancel stops the running reply and is 204 in any case.',
  'spec-4.12.delete': 'Deleting a session deletes its messages.',
  'spec-4.13.playground': 'The playground lists, creates, deletes sessions, reads messages and chats.',
  'spec-5.1.bearer': 'Deploy endpoints ask for PUBLIC_API_KEY when it is set, and answer 401 in the object format.',
  'spec-5.2.management-login':
    'With AUTH_CREDENTIALS management needs a login, which is rate limited; without it none.',
  'spec-6.1.order': 'Role, content, finish, [DONE]; ids in session streams.',
  'spec-6.2.playground-stream': 'The playground answers with a stream of content chunks.',
  'spec-7.1.errors': 'Deploy errors have the statuses and formats of section 7.1.',
  'spec-7.2.management-errors': 'Management errors are {message} with 401, 404, 409, 429.',
  'spec-8.limits': 'limit defaults to 20, is capped at 100; offset defaults to 0.',
  'spec-9.versioning': 'All paths have their prefix; the server and its clients are generated from one contract.',
  // ── contract 1 ────────────────────────────────────────────────────────────────────────────────────────
  'contract-1.two-commands': 'npm start serves API and page with an embedded PostgreSQL and a demo agent.',
  'contract-1.settings': 'An unknown value of any setting stops the start with one clear line and exit code 78.',
  'contract-1.allowed-hosts': 'Foreign host names are refused while the server is open on loopback.',
  'contract-1.secret-key': 'Secrets are encrypted, keys are checked and rotated.',
  'contract-1.retries': 'Provider calls are tried again only before the first text or tool call.',
  'contract-1.timeouts': 'GENERATION_TIMEOUT_S and PROVIDER_IDLE_TIMEOUT_S end a reply with provider_timeout.',
  'contract-1.max-running': 'Beyond MAX_RUNNING_REPLIES: 503 with Retry-After, nothing stored.',
  'contract-1.history-limit': 'HISTORY_MAX_TOKENS drops the oldest whole turns, never the newest message.',
  'contract-1.drain': 'On SIGTERM replies may finish, new completions get 503, the rest end as shutdown.',
  'contract-1.body-limit': 'Larger bodies than MAX_BODY_BYTES get 413.',
  'contract-1.retention': 'Idle sessions, old transitions, logins and idempotency keys go after their time.',
  'contract-1.title-model':
    'SESSION_TITLES=model: a background job asks the agent’s model, and falls back to the derived title.',
  'contract-1.logs': 'Logs are structured, and hold no credentials.',
  'contract-1.migrations': 'Several instances may start at once on an empty database.',
  'contract-1.cache': 'CACHE_URL takes a password, TLS, Sentinels and a cluster; readiness tells how it stands.',
  'contract-1.workers':
    'WORKERS: processes on the one port, each an instance, replaced when one dies, stopped together.',
  'contract-1.transaction-poolers': 'All works through a transaction pooler.',
  'contract-1.embedded': 'The embedded database survives kill -9, stale files and signals to the process group.',
  'contract-1.metrics': 'METRICS_PORT serves Prometheus metrics, of all workers together.',
  'contract-1.traces':
    'OTEL_EXPORTER_OTLP_ENDPOINT gets spans of requests, replies, model and tool calls, without content.',
  // ── contract 2 ────────────────────────────────────────────────────────────────────────────────────────
  'contract-2.text': 'U+0000 and lone surrogates in any string are 400.',
  'contract-2.lists': 'Invalid limit or offset is 400 on every list.',
  'contract-2.errors': 'Management errors are {message}; unknown ids 404; other media types 415.',
  'contract-2.changes': 'What was changed at any instance shows in the next reply at every one.',
  'contract-2.agent-delete': 'Deleting an agent cancels its running replies and removes its sessions.',
  'contract-2.secret-headers':
    'Secret headers are encrypted, read back as ***, kept by ***, and never moved to another origin.',
  'contract-2.login-cookie': 'The cookie has its attributes, slides, ends, and is stored as a hash.',
  'contract-2.login-limit': 'Five failures a minute for an address and name, thirty for an address, then 429.',
  'contract-2.foreign-origin': 'Changes from a foreign origin are refused; no CORS header is ever sent.',
  'contract-2.provider-test': 'The test of a provider is always 200 and tells what was found.',
  'contract-2.http-tool-test': 'The test of an HTTP tool is always 200 and tells what came.',
  'contract-2.mcp-tools': 'Discovery lists the tools of a server; an unreachable one is 502.',
  'contract-2.tool-delete': 'A deleted tool or server leaves the choices of agents.',
  // ── contract 3 ────────────────────────────────────────────────────────────────────────────────────────
  'contract-3.request': 'Other fields are ignored; text parts are joined; other parts and roles are 400.',
  'contract-3.usage-chunk': 'include_usage adds the usage chunk; in sessions the first request decides.',
  'contract-3.auth-first': '401 comes before 404 and 400.',
  'contract-3.ids': 'id is chatcmpl-<message uuid> in every chunk; model is the agent’s; created in seconds.',
  'contract-3.finish-reason': 'stop, length and content_filter as the provider says; never tool_calls.',
  'contract-3.error-chunk': 'A failed stream ends with {error} alone and no [DONE].',
  'contract-3.failed-unstreamed': 'A failed generation that is not streamed is 500 with x-should-retry: false.',
  'contract-3.provider-words': 'Provider messages are cut and cleared of secrets.',
  'contract-3.stateless-disconnect': 'A stateless client that leaves stops the provider call.',
  'contract-3.session-ids': 'Ids are 1, 2, 3, … through the life of a session, on every frame.',
  'contract-3.heartbeat': 'After 15 s of silence: ": ping" and one line end; no retry frames.',
  'contract-3.headers': 'Streams have the three headers.',
  // ── contract 4 ────────────────────────────────────────────────────────────────────────────────────────
  'contract-4.stored-before-shown': 'What a client has seen, every later read shows, after any crash.',
  'contract-4.storage-outage': 'While nothing can be stored nothing is shown; the outcome is stored later.',
  'contract-4.busy': 'A second message while one runs: 409, x-should-retry: false, nothing stored.',
  'contract-4.interrupt': 'on_busy: interrupt cancels the running reply first.',
  'contract-4.idempotency': 'The same key and body joins; another body is 400; refusals use no key up.',
  'contract-4.retry-join': 'A retry by a common client joins the reply instead of storing it twice.',
  'contract-4.resume':
    'Every id resumes exactly; a finished reply always ends with its closing frames; no reply yet: 204.',
  'contract-4.cancel': 'A cancelled reply keeps its content, is complete with finish_reason cancelled, ends with stop.',
  'contract-4.delete': 'Streams of a deleted session end with session_deleted, id last plus one.',
  'contract-4.clean-text': 'U+0000 and unpaired surrogates of a model become U+FFFD; split pairs are joined.',
  'contract-4.history': 'Empty replies are left out, neighbours joined, repeats of a failed message sent once.',
  'contract-4.title': 'The title comes from the first user message, at a word boundary, at most 60 characters.',
  'contract-4.owner-lost': 'Replies of a dead owner become error/instance_lost; generation is never run again.',
  'contract-4.fencing': 'An instance that was declared lost cannot write another byte.',
  'contract-4.orphans': 'A running message without a live actor is settled as internal within 10 s.',
  // ── contract 5, 8, 9 ──────────────────────────────────────────────────────────────────────────────────
  'contract-5.shapes': 'Playground sessions and messages have the shapes of section 5.',
  'contract-5.stream': 'The playground stream has x-session-id, ids on completion frames, named events without ids.',
  'contract-5.resume-cancel': 'The playground resumes and cancels.',
  'contract-5.overrides': 'configOverrides change one request.',
  'contract-5.tool-arrays': 'Tool arrays replace those of the agent for one request; unknown ids are 400.',
  'contract-5.tool-events':
    'Tool calls and results are named events and toolCalls of the message; a resume repeats those after its id.',
  'contract-6.loop':
    'Calls of one turn run side by side, results in call order; all text is one content; only text on the deploy wire.',
  'contract-6.failing-tools':
    'A tool that fails or is unknown, or arguments that are no JSON, give the model an error; the reply goes on.',
  'contract-6.max-tool-calls': 'After maxToolCalls calls the model is asked once more without tools.',
  'contract-6.stop': 'Cancel, time-out and a client that leaves stop running tools, down to the socket.',
  'contract-6.kept-calls': 'Later turns show the model what it called and what came back, within a limit.',
  'contract-6.names': 'Tools are named towards the model by 64 plain characters, MCP tools as server__tool.',
  'contract-6.arguments':
    'Arguments are checked against inputSchema first; a hostile schema neither hangs nor fetches.',
  'contract-6.mcp':
    'MCP of both eras and transports: kept connections, lists cached five minutes, reconnects, headers, cancels.',
  'contract-6.dead-server': 'A dead MCP server delays neither the answer nor the reply by more than 3 s.',
  'contract-6.outbound':
    'Resolved addresses are checked and connected to; the chooser, the policy and OUTBOUND_ALLOW decide.',
  'contract-6.redirects':
    'Each hop is checked again; another origin is a model’s choice, without configured headers and body.',
  'contract-6.http-template':
    'Placeholders are escaped where they stand and change neither origin nor path; the rest goes to query or body.',
  'contract-6.http-limits': 'HTTP tools: status and text, 256 KiB, 30 s, five redirects.',
  'contract-6.web-fetch': 'web_fetch: main content as Markdown, text and JSON as they are, 5 MiB, 20 s.',
  'contract-6.current-time': 'current_time tells the time, in a time zone when asked.',
  'contract-7.follow': 'A reply is followed on other instances without a gap or a double, with Redis and without.',
  'contract-7.cancel':
    'A cancel reaches the owner at once with Redis, within 2 s without; the intent is written first.',
  'contract-7.any-instance': 'Any instance serves any request: messages, resumes and cancels may land anywhere.',
  'contract-7.jobs':
    'Background jobs run in turns, at once when hurried, again when they fail, shared by all instances.',
  'contract-7.redis-lost': 'Redis lost, restarted, emptied or slow loses nothing; full speed comes back by itself.',
  'contract-8.chart': 'The chart is derived from the machine that runs.',
  'contract-8.transitions': 'Every transition of a session is listed and streamed.',
  'contract-8.traffic': 'Traffic counts transitions and times states; hours is 1 to 168.',
  'contract-8.actors': 'Live actors are listed.',
  'contract-8.find': 'A session, a reply or a request is found by its whole id.',
  'contract-8.docs': '/openapi.json and /docs are served.',
  'contract-8.usage': 'Every reply that ended counts, whatever its ending; by agent, model, day; from and to.',
  'contract-8.export': 'The configuration by name, without secrets.',
  'contract-8.import': 'JSON or YAML, matched by name, all or nothing; what is skipped says why.',
  'contract-18.arrival': 'A request has 60 s to arrive, then as long as 64 KiB come a second, 10 minutes at most.',
  'contract-18.open-bodies': 'Routes that need no credential take 16 KiB; without one no body is read.',
  'contract-18.json-size': 'A body holds 100,000 values at most and nests 200 deep at most.',
  'contract-18.import': 'Imports hold 1 MiB at most, and are read beside the server.',
  'contract-18.livez': 'No single request makes /livez wait longer than 250 ms.',
  'contract-9.demo': 'The demo provider does what section 9 says.',
  // ── contract 10 ───────────────────────────────────────────────────────────────────────────────────────
  'contract-10.commit-first':
    'A tool acts only after its call is stored, and the next provider call goes out only after the results are.',
  'contract-10.lease':
    'Nothing goes out on a reply’s behalf unless the lease of its owner is valid at that moment; a short outage only delays.',
  'contract-10.keys': 'HTTP tools that may change something, and MCP calls, carry the key of their call.',
  'contract-10.unknown-outcome':
    'A call whose result was not stored stays, with nulls; later turns are told that its outcome is unknown; it is never made again.',
  'contract-10.no-second-call':
    'A provider call that has sent text, reasoning or any part of a tool call is never made again.',
  'contract-10.unknown-admission':
    '503: nothing was stored. Unknown: 500, the owner looks for a lease, begins or settles it, a retry joins.',
  'contract-10.loss-without-clocks':
    'Loss is judged by the judge’s own monotonic clock; a jump of the database’s clock and a paused database lose nobody.',
  'contract-10.renewal': 'No new messages, and no lock on another table, keep an instance from renewing its lease.',
  'contract-10.self-fencing':
    'An instance whose own lease has run out cuts and stops its replies; followers get the outcome within 2 leases.',
  'contract-10.mass-loss': '2,000 replies of one lost instance are settled within 2 leases.',
  'contract-10.durability': 'synchronous_commit, fsync and full_page_writes that are off are named at the start.',
  'contract-10.signals':
    'Signals within a second of the first stop signal are that signal; a later one ends all at once.',
  // ── contract 11, who comes in ─────────────────────────────────────────────────────────────────────────
  'contract-11.secrets': 'A client secret is made for a user, as bearer token or access_token of GETs that stream.',
  'contract-11.exact': 'Only exactly the string that was handed out is good.',
  'contract-11.reach': 'A secret opens its user’s sessions, or one of them; all else is 404 as unknown, 403 or 401.',
  'contract-11.refusals': 'Refused with 401: token_expired, token_revoked, invalid_api_key.',
  'contract-11.expiry': 'A stream that is open at expiry goes on to the reply’s end.',
  'contract-11.open': 'Where PUBLIC_API_KEY is unset, a secret that is sent still limits, and a bad one is 401.',
  'contract-11.no-logs': 'No log, trace or metric shows a secret, deploy/nginx.conf included.',
  'contract-11.database-away': 'While the database is away, what is known of secrets counts.',
  'contract-11.revoke': 'Revoked secrets are refused on every instance within 2 s, their streams end, replies run on.',
  'contract-11.delete-user': 'A user’s sessions go, one that a revoked secret is making elsewhere too.',
  'contract-11.export-user': 'A user’s sessions as lines of JSON, with their messages.',
  'contract-11.origins': 'Listed origins get CORS headers below their agent’s deploy paths, nobody else.',
  'contract-11.foreign-page': 'An open server refuses what a page of any origin can make a browser send.',
  // ── contract 11: sessions, models ────────────────────────────────────────────────────────────────────
  'contract-11.sessions': 'Sessions carry user, metadata and updated_at.',
  'contract-11.create': 'A session is made with user, metadata, an id of the caller’s and messages to begin with.',
  'contract-11.given-messages': 'Given messages are complete, have no frames, and are the history of what follows.',
  'contract-11.patch': 'PATCH changes title and metadata; null clears; a cleared title is derived again.',
  'contract-11.filters': 'Session lists are narrowed by user, metadata and q; empty values are 400.',
  'contract-11.message-pages': 'Message lists take limit with after or before, always oldest first.',
  'contract-11.large-lists':
    'A list by user finds its sessions by an index, also where the table was large before. So does a reply its rows.',
  'contract-11.models': 'deploy/models and openai/models list; openai/chat/completions names an agent as its model.',
  'contract-11.client': 'The client makes sessions with all of it, and renews a client secret by itself.',
  'contract-11.pages': 'The pages show the browser’s way first, and a session’s user and metadata.',
  // ── contract 12 ───────────────────────────────────────────────────────────────────────────────────────
  'contract-12.ai-sdk': "A reply is a UI message stream, each part as the SDK's own schema has it.",
  'contract-12.ai-sdk-input':
    'The last message of DefaultChatTransport is sent to the session of the chat’s id, which is made when needed.',
  'contract-12.ai-sdk-resume': 'GET …/stream follows the running reply, DELETE …/stream cancels it, else 204.',
  'contract-12.chat-transport':
    'The transport for useChat goes on with broken connections, loses nothing and repeats nothing, and renews the secret.',
  'contract-12.ai-sdk-messages': 'GET …/messages gives UI messages with our ids and their status.',
  'contract-12.ag-ui': 'A reply is a run of AG-UI, each event as the protocol has it.',
  'contract-12.ag-ui-input': 'The newest user message of RunAgentInput is sent; the same runId joins.',
  'contract-12.clients':
    'useChat, assistant-ui’s runtime and AG-UI’s HttpAgent work unmodified; the table tells what was seen.',
  'contract-12.examples':
    'examples/ has three pages of less than 80 lines, served by one command beside a running server.',
  'contract-12.one-log':
    'A replay repeats the same parts, on every instance; one reply runs a session across all surfaces.',
  'contract-12.reasoning':
    'Where it is asked for, reasoning comes in frames of its own before its text; numbered, stored, resumed like text; the message carries it.',
  'contract-12.reasoning-off': 'Without include_reasoning every byte is as before.',
  'contract-12.reasoning-asked':
    'A provider is asked for reasoning only where that cannot be refused nor change the answer; one that refuses is asked once more without.',
  'contract-12.reasoning-back':
    'Reasoning of earlier replies is never sent to a model; within a reply it goes back to the model that wants it.',
  // ── contract 13 ───────────────────────────────────────────────────────────────────────────────────────
  ...branches,
  ...children,
  ...conformance,
  ...decisions,
  ...models,
  ...operating,
  ...parts,
  ...queue,
  ...responses,
  ...shares,
  ...tools,
  ...lasting,
  ...limits,
  ...values,
  ...versions,
  ...handover,
  ...keys,
  ...signIn,
  ...told,
  ...frontDoor,
  ...edges,
  ...finding,
} as const

export type RequirementId = keyof typeof requirements
