/** The rules of contract section 15, decisions: a part of requirements.ts. */
export const decisions = {
  'contract-15.caller-tools':
    'A completion may bring tools; a call of theirs ends the reply with tool_calls, and its result continues it.',
  'contract-15.caller-tools-refused':
    'More than 128 tools, a name twice or the agent’s own, tool_choice without tools, a result without a call: 400.',
  'contract-15.approvals': 'An agent’s tools carry approvals: names, or "*".',
  'contract-15.stateless-approval': 'A stateless call that needs approval is answered to the model as not approved.',
  'contract-15.waiting':
    'A call that waits ends the reply; the session is waiting, carries what is pending, and nothing stays in memory.',
  'contract-15.kinds':
    'A turn with both kinds waits for approvals first, then for the caller, before the model is asked.',
  'contract-15.shown': 'Who brought tools is shown the caller’s calls, include_actions shows both, others see stop.',
  'contract-15.actions': 'Decisions are made about all that is pending, or not at all; the answer is the next reply.',
  'contract-15.secrets': 'A client secret approves as it stands or rejects.',
  'contract-15.results': 'Messages of role tool answer the caller’s calls in a session.',
  'contract-15.carried':
    'Tools, fields and overrides stay in force for the replies that go on; a new message ends that.',
  'contract-15.limit': 'maxToolCalls counts from the user’s message on, decided calls included.',
  'contract-15.one-winner': 'Of two deciders one wins, the other gets 409; a retry joins.',
  'contract-15.message-instead': 'A new user message rejects what is pending; the model is told.',
  'contract-15.cancel': 'Cancel while waiting is 204 and changes nothing.',
  'contract-15.who-decided': 'Who decided what and when is stored with the call, and shown with its result.',
  'contract-15.once': 'An approved call runs at most once, under the key of the reply that asked.',
  'contract-15.ai-sdk': 'On the AI SDK’s endpoints a reply and those that continue it are one UI message.',
  'contract-15.ag-ui': 'AG-UI’s interrupts are resolved with payload {approved, reason?}, or cancelled.',
  'contract-15.pages': 'The playground asks with Approve, Edit and Reject; a page lists what waits over all agents.',
  'contract-15.client': 'The client lists what is pending and decides it.',
  'contract-15.official': 'runTools of the official client works unmodified, stateless and in sessions.',
  'contract-15.forked': 'A copy of a session is told what was decided; undecided calls are rejected in it.',
  'contract-15.crash': 'Crashes and restarts between any two steps lose no decision and double no effect.',
  'contract-15.echoes': 'What a vendor wants back is stored with the calls that wait, and goes back to it alone.',
  // ── contract 25 ───────────────────────────────────────────────────────────────────────────────────────
  'contract-25.call-ids':
    'Several calls of one id, and calls without ids, are each made once; no request goes out in which ids repeat.',
} as const
