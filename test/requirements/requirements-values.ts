/**
 * The rules of contract section 20, the user reaches tools and prompts, and of section 35, values stay as they were
 * written: a part of requirements.ts.
 */
export const values = {
  'contract-20.prompts': 'Values of the session and the time stand in prompts; a missing one is empty, or its default.',
  'contract-20.tools': 'They stand in HTTP tools, escaped as arguments are; a missing one refuses the call.',
  'contract-20.admission': 'Values are those of the reply’s admission, in all its turns.',
  'contract-20.stateless': 'A stateless completion has the user of its request, and no other value of a session.',
  'contract-20.saving': 'Unknown names are 400 when a prompt or a tool is saved; older records keep working.',
  'contract-20.not-the-model': 'No argument, prompt, tool result or MCP call reaches another user’s values.',
  'contract-20.secrets': 'A client secret may not set or change metadata that the agent’s prompt or tools use: 403.',
  'contract-20.mcp': 'An MCP server with sendUser is told user and session of each call, others are not.',
  'contract-20.as-sent': 'The prompt as it was sent is what the requests of a reply show.',
  'contract-20.unknown-fields': 'A field that a management body does not have is 400 that names it and what was meant.',
  'contract-20.as-read': 'A record may be sent back as it was read: its read-only fields are taken and not looked at.',
  'contract-20.import': 'An import refuses unknown fields with the record’s name, and takes records as they are read.',
  'contract-35.digits': 'Numbers keep their digits in calls, their results and decisions, wherever they are passed on.',
  'contract-35.patterns':
    'A pattern of another dialect costs no tool: it is tried without u, else left out, and named.',
  'contract-35.interim': 'Informational answers that nobody asked for are skipped, on every outgoing connection.',
  'contract-35.line-ends': 'U+2028, U+2029 and U+0085 are escaped in every event and every line of JSON.',
  'contract-35.time-zones': 'current_time takes an empty zone, offsets and IANA names, and says so where it refuses.',
  'contract-35.titles': 'Derived titles hold no control characters.',
  'contract-35.words': 'An empty error beside text is none; what is beyond a limit is told in words.',
  'contract-32.tool-choice': 'Responses: tool_choice “none” and “auto” without tools count as absent.',
  'contract-35.last-turn':
    'Where the answer must be JSON, only the last turn’s text is content; earlier text goes where reasoning goes.',
  'contract-35.stream-of-key': 'On the Responses API, `stream` is not part of the body that a key is held to.',
  'contract-35.playground-key': 'The playground’s chat takes Idempotency-Key as a session’s completions do.',
  'contract-35.one-call-id': 'A waiting call of a response has one call_id on every surface.',
  'contract-35.proxy':
    'HTTPS_PROXY, HTTP_PROXY and NO_PROXY hold for every outgoing request to others; errors name the proxy.',
  'contract-35.proxy-rule': 'Through a proxy the outbound rule judges literal addresses and names that resolve here.',
  'contract-35.challenge':
    'Words that stand in WWW-Authenticate alone reach the model; our own 401 carries the header.',
  'contract-35.receivers': 'A webhook’s error says where a redirect leads; Retry-After postpones the next attempt.',
} as const
