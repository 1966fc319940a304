/** The rules of contract sections 16 to 18, what operators see and rely on: a part of requirements.ts. */
export const operating = {
  // ── contract 16: what happened here ──────────────────────────────────────────────────────────────────
  'contract-16.all-sessions': 'Sessions over all agents are listed, filtered, searched, and counted up to 10,000.',
  'contract-16.session-status': 'A session carries the status and the error code of its newest reply.',
  'contract-16.figures': "A reply's message in the playground tells model, tokens, times, attempts, overrides, prompt.",
  'contract-16.trace': 'A reply has a trace of spans: reply, model, attempt, tool, settle.',
  'contract-16.trace-stream': 'The trace is streamed while the reply runs, whole at each change, to its settlement.',
  'contract-16.notes':
    'Attempts, model turns and tool calls are notes: listed, streamed, filtered, not counted as traffic.',
  'contract-16.requests': 'What each model call was sent is rebuilt from references, as the provider got it.',
  'contract-16.requests-off': 'TRACE_REQUESTS=off keeps nothing of it: 404 that names the setting.',
  'contract-16.usage-figures': 'Usage tells first token, duration, share of errors and cost by agent and model.',
  'contract-16.compact': 'Management JSON and /openapi.json are compressed and tagged; streams are left alone.',
  // ── contract 17 ───────────────────────────────────────────────────────────────────────────────────────
  'contract-17.failed-replies': 'A failed reply is one line at warn with all its ids; a retry’s line carries the same.',
  'contract-17.levels': 'error is for faults of ours alone; lines of requests carry method and route.',
  'contract-17.lost': 'Lost replies and instances are counted by who declares them.',
  'contract-17.not-stored': 'Outcome not_stored stands apart from internal, in metrics only.',
  'contract-17.from-zero': 'Every counter but those of HTTP requests has all its series at 0 from the start.',
  'contract-17.workers': 'With WORKERS no sum falls when a worker is slow or dies.',
  'contract-17.traces':
    'Spans and resources follow the conventions; a collector that is away is one warning, and one line when it is back.',
  'contract-17.traceparent': 'Every call out carries the traceparent of its own span; a configured header wins.',
  'contract-17.title-usage': 'Titles by model count in usage.',
  // ── contract 18 ───────────────────────────────────────────────────────────────────────────────────────
  'contract-18.a-turn-each':
    'Searches and documents of one caller delay those of another by one turn, however many wait.',
  'contract-18.loaded-first': 'What takes long to load is loaded at the start where it will be needed.',
  'contract-18.no-freeze': 'No hostile provider, tool or MCP server holds the process for 250 ms.',
  'contract-8.deployment':
    'An export makes an empty server, with its variables set; unset ones are named before anything is sent; a dry run changes nothing.',
} as const
