/** The rules of contract section 27 on MCP servers that ask, sign in or are missing: a part of requirements.ts. */
export const mcp = {
  'contract-27.missing-reasons':
    'A server without a list of tools is missing, for one reason: unreachable, unauthorized, invalid, no_user or no_value.',
  'contract-27.missing-record':
    'The message carries missing_tools before its first content, and is that of the instance that ended the reply; the trace too.',
  'contract-27.missing-header':
    'An answer that is not streamed names them in x-greenroom-missing-tools; a streamed one, and one without, has no such header.',
  'contract-27.missing-prompt':
    'The last line of the system prompt names them, in order, in all model calls; nothing missing changes nothing.',
  'contract-27.on-missing-tools':
    'onMissingTools fail ends the reply before any call: error tools_unavailable, 500 that is not tried again.',
  'contract-27.header-names':
    'A header of an MCP server takes values of the session; any other name, an unclosed one, or one in url is 400.',
  'contract-27.header-values':
    'Values are filled in for every request; lists and connections are apart for each set; a missing value makes the server missing.',
  'contract-27.header-metadata': 'A client secret may not set metadata that such a header names: 403.',
  'contract-27.declared':
    'Only calls of replies in sessions, to servers of the newest revision, declare elicitation; others get an error as result.',
  'contract-27.questions':
    'A server that asks ends the reply; the session waits with an entry of pending for each question, as the server sent it.',
  'contract-27.cannot-ask': 'What cannot be asked fails the call with words for the model; a bare state is sent again.',
  'contract-27.answers':
    'answer, decline and cancel decide a question; a content that does not fit is 400 that names decisions.<n>.content.',
  'contract-27.sent-again':
    'The reply that follows sends the call again once, with arguments, key, answers and state; it may ask again.',
  'contract-27.state': 'requestState is encrypted at rest, goes back byte for byte, and is shown to nobody.',
  'contract-27.dropped': 'A new message, an edit or a regenerate drops the question; the server is sent nothing.',
  'contract-27.moved': 'A server whose url or transport has changed gets no answer.',
  'contract-27.question-wires': 'The AI SDK shows data-pending, AG-UI an interrupt input_required, and both answer it.',
  'contract-27.question-crash':
    'A question outlives its instances; of two people who answer it one wins, and it is sent once.',
  'contract-27.auth-fields':
    'auth user needs streamable_http, no authorization header and PUBLIC_URL; a client needs auth user; its secret reads as ***.',
  'contract-27.no-grant':
    'Without a grant a list is asked for without one; a server that answers 401 is offered as __sign_in; without a user it is missing.',
  'contract-27.sign-in-pending':
    'pending has kind sign_in with our address; decline tells the model; any other decision is 400.',
  'contract-27.sign-in-page':
    'The page names server, host, agent and user; its POST needs its cookie, form value and Origin, and is 303 with state, challenge and resource.',
  'contract-27.callback':
    'A state is good once, for ten minutes, in the browser that began; anything else is 400 without grant, redirect or echo.',
  'contract-27.goes-on': 'The sign-in begins the reply that follows, which makes the call with the grant, once.',
  'contract-27.registration':
    'A client is registered once for each server and issuer; of all that wait for it on an instance one holds a connection.',
  'contract-27.sign-in-crash':
    'A sign-in outlives its instances: its callback counts on any of them, and the reply that follows makes the call once.',
  'contract-27.sign-in-pages':
    'The agent’s tools say which servers want a sign-in; card, page, provider and callback lead back to a call that goes on.',
  'contract-27.refresh':
    'A token that is over or refused is refreshed once, by one of all that need it; invalid_grant asks anew, another failure is the call’s error.',
  'contract-27.scopes': 'A 403 with insufficient_scope waits for a sign-in with the scopes of both.',
  'contract-27.tokens-hidden': 'Tokens are encrypted, rotated, and stand in no answer or log.',
  'contract-27.outbound':
    'What an MCP server names may only be public; its own origin counts as chosen by an administrator.',
  'contract-27.connections':
    'Connections are listed and removed by the deploy key, the user’s client secret and management, with audit.',
  'contract-27.connections-page':
    'A page lists the connections of one user or of all, with server, agent and scopes, and ends one after a question.',
  'contract-27.connections-go':
    'Connections go with user, agent and server, and with a change of url, auth or client; revoke keeps them.',
} as const
