/** The rules of contract section 30 on agents as tools, and on agents as MCP servers: a part of requirements.ts. */
export const children = {
  'contract-30.agent-tools':
    'agentTools names agents that are there, each once; absent keeps, [] clears; versions, exports and approvals have them.',
  'contract-30.ways': 'No agent reaches itself through agentTools, and no way is longer than three calls.',
  'contract-30.child':
    'A call makes a session of the called agent, whose text is its result; stateless completions have none.',
  'contract-30.child-once': 'There is one child for each call, whatever dies or is repeated.',
  'contract-30.child-result':
    'A child that fails, is cancelled or deleted gives a result that says so, with its text so far.',
  'contract-30.child-busy': 'A child takes no other message while its call has no result.',
  'contract-30.child-cancel': 'A cancel, and the end of a parent, end the children at all depths.',
  'contract-30.child-loss':
    'A parent that goes on elsewhere joins its children; one that ends has them cancelled; a lost child is told.',
  'contract-30.child-waits':
    'A child that waits makes the sessions above it wait; what it asks is pending there, with the way to it.',
  'contract-30.child-decided':
    'It is decided at the child or above it, once; the sessions above follow where nothing is left to decide.',
  'contract-30.child-wires':
    'The part of the parent’s own call asks on the AI SDK’s endpoint, and AG-UI has one interrupt for each entry.',
  'contract-30.child-costs': 'A reply whose agent asks no other one costs no statement more.',
  'contract-30.child-waits-ended':
    'A new message above rejects what a child asks; a waiting child that is cancelled or deleted is told to its parent.',
  'contract-30.child-metadata':
    'A client secret may not set metadata that an agent uses which can be reached through agentTools: 403.',
  'contract-30.child-places':
    'Eight children of a reply run at a time, further ones begin in the order of their calls; a message leads to 100.',
  'contract-30.child-drain': 'A draining instance hands over a reply that waits for nothing but children, at once.',
  'contract-30.child-limits':
    'The use of children counts for the key and the user above them; what is used up refuses one.',
  'contract-30.parent': 'A child names its parent, on every surface; a call names its child.',
  'contract-30.child-lists': 'Lists show children or leave them out as they are asked.',
  'contract-30.child-paths': 'Below a session those below it answer as on their own paths; another session is 404.',
  'contract-30.child-deletion': 'A session goes with all below it, and so do the children of a reply.',
  'contract-30.older': 'Beside an older version a session that has a parent is known to both by their own words.',
  'contract-30.pages':
    'The pages nest a child below its call, with its own stop; the chart and the trace show it at the call.',
  'contract-30.face-tool':
    'An agent is an MCP server of both eras with one tool, ask; GET and DELETE are 405, and every instance serves.',
  'contract-30.face-access':
    'The face takes the credentials of completions; a secret asks in its own sessions; a foreign origin is 403.',
  'contract-30.face-sessions': 'ask makes a session or goes on in one, and answers with its text, ids and status.',
  'contract-30.face-refusals':
    'What is not taken is isError with a sentence and stores nothing; broken JSON-RPC and unknown tools are protocol errors.',
  'contract-30.face-progress': 'With a progressToken a client is told of the begin and of rising numbers, no content.',
  'contract-30.face-keys': 'A key joins the first call, also where it made the session; other arguments are refused.',
  'contract-30.face-cancel':
    'A closed response cancels a call of the newest revision without a key; in older ones the notification alone does.',
  'contract-30.face-depth':
    'Calls of MCP servers carry greenroom/depth, one more than that of the reply; ask refuses one above 3.',
  'contract-30.face-drain': 'A draining instance answers ask with 503 and Retry-After.',
} as const
