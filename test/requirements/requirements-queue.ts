/** The rules of contract section 22, the queue of a session: a part of requirements.ts. */
export const queue = {
  'contract-22.list-marks': 'Lists of deploy sessions have status and queued, as their stream.',
  'contract-22.enqueue':
    'A message waits in the queue and begins when those before it have ended, whatever their status; its request waits with it.',
  'contract-22.exactly-once':
    'Each queued message is answered exactly once, in order, none while another reply runs, whatever dies.',
  'contract-22.queue-limit': 'Twenty messages wait at most, else 409.',
  'contract-22.dequeue':
    'DELETE takes a message out of the queue: 409 for its request, streamed the error chunk dequeued; 404 once it has begun.',
  'contract-22.cancel': 'Cancel ends the running reply alone; {"queue": "clear"} empties the queue as well.',
  'contract-22.interrupt': 'Interrupt goes before all that is queued.',
  'contract-22.joins': 'A key and retries join the message that waits.',
  'contract-22.deleted': 'A queue goes with its session.',
  'contract-22.regenerate': 'regenerate with enqueue or steer: 400.',
  'contract-22.stream-of-reply': 'The stream of a reply by its id, running or ended.',
  'contract-22.fields': 'Fields, tools, parts and stream_options of a queued message hold for its reply.',
  'contract-22.no-longer-fits': 'What no longer fits when it begins ends as provider_error.',
  'contract-22.waiting':
    'In a session that waits, enqueue waits; every other message rejects what is pending and goes first.',
  'contract-22.steer': 'A steered reply ends at its next boundary, and the message follows before those enqueued.',
  'contract-22.drain':
    'A draining instance begins none: the connections of those who wait break off, another begins them.',
  'contract-22.surfaces': 'Queue routes and onBusy of the playground, on_busy of AI SDK, AG-UI and the Responses API.',
  'contract-22.stored-input': 'What a queued message asks for is stored under a version that never changes.',
} as const
