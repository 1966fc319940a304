/** Rules of contract section 19: real models, long conversations. */
export const models = {
  'contract-19.wire-api': 'A provider has wireApi: its default, its changes, export, import, and 400 for other types.',
  'contract-19.responses-request':
    'Requests of the Responses API hold prompt, history, tools and fields as it has them.',
  'contract-19.responses-events': 'Events of the Responses API are read as text, reasoning, calls, usage and end.',
  'contract-19.responses-items-back': 'Reasoning items go back with the items that followed them, or not at all.',
  'contract-19.optional-fields': 'An optional field that is refused is asked once more without, and remembered.',
  'contract-19.tools-beside-effort':
    'Tools refused beside an effort that nobody named are asked once more with none; a named one stays.',
  'contract-19.sampling-left-out': 'Sampling that a model is known to refuse is left out.',
  'contract-19.recordings': 'Every recorded answer is read as it says, whole, split at any byte and slowly.',
  'contract-19.overflow-words': 'Too long an input is recognised in the words of each vendor, and nothing else is.',
  'contract-19.too-long':
    'Too long a conversation is asked with half its history, then the fallback; the session goes on.',
  'contract-19.named-limit': 'A limit that a provider names is remembered for provider and model.',
  'contract-19.budget': 'The history that is sent keeps to a budget and begins alike in all but few replies.',
  'contract-19.compaction': 'A history near its budget is summarised first, by an agent that has it so.',
  'contract-19.summary-marks': 'A summary is told that results of tools are data, and what it repeats does not end it.',
  'contract-19.compaction-fails': 'Where there is no summary, the history is cut.',
  'contract-19.compaction-counts': 'A summary counts in usage, trace and requests of the reply that it was made for.',
  'contract-19.compaction-stops': 'Cancel, loss and deletion work in streaming.compacting as in any state.',
  'contract-19.compact': 'A session is summarised when somebody asks for it, and held meanwhile as by a reply.',
  'contract-19.checkpoints': 'The summaries of a session are listed, and copied by forks.',
  'contract-19.divider': 'The playground shows a divider that opens the summary.',
  'contract-19.estimates': 'Estimates are corrected by what the newest reply reported, and within 25 % then.',
  'contract-19.slips': 'What vendors send around an answer is read as it is meant.',
  'contract-25.done-is-done': 'Two seconds after a finish reason the turn is over, whatever the socket does.',
  'contract-19.usage': 'Cached, written and reasoning tokens are counted, stored and shown.',
  'contract-19.agent-fields': 'An agent has reasoningEffort and maxOutputTokens, which requests override.',
} as const
