/** The rules of contract section 29, decisions that last: a part of requirements.ts. */
export const lasting = {
  'contract-29.one-by-one':
    'Decisions about some of the pending calls are stored; the request that decides the last call begins the reply.',
  'contract-29.whole-or-not': 'A request is taken whole or not at all, and each call is decided once.',
  'contract-29.repeated': 'A request that decided a part and is sent again is answered with the session as it is then.',
  'contract-29.message-instead': 'A new message rejects what is undecided; what was approved before is not made.',
  'contract-29.unknown-fields': 'An unknown field inside a decision is 400 that names it, and nothing is decided.',
  'contract-29.stored-decisions':
    'Decisions that no request waits for begin the reply that follows as a queued message’s begins, once.',
  'contract-29.older-versions': 'The first partial decision ends the compatibility of older versions.',
  'contract-29.failures':
    'Messages with the status error carry the code and the words of their error chunk, wherever they are listed.',
  'contract-29.prompt-times':
    'In a prompt {{now.time}} is the same words each time, and each user message is sent with its time at its end.',
  'contract-29.prompt-warning': 'Saving and importing a prompt with {{now.time}} answers with a warning.',
  'contract-29.expiry-configured':
    'approvalsExpireAfterS is a whole number from 60 to 7,776,000, or null; exports carry it.',
  'contract-29.expires':
    'When the time is over, undecided approvals are rejected as expired, approved ones are made, and the reply that follows begins by itself, once.',
  'contract-29.when':
    'An element of approvals with a condition asks only for calls whose arguments match it, or cannot be judged.',
  'contract-29.when-saved':
    'A condition is a JSON Schema of an object, and stands in tools, exports and imports as it was saved.',
  'contract-29.remembered':
    'A remembered decision settles later calls of the same tool in its session, or of its user, by its arguments.',
  'contract-29.remembered-costs':
    'A turn in which no call would wait reads nothing of what is remembered; one that would wait reads it once.',
  'contract-29.remember-refused': 'A wish to remember that cannot be is 400 or 403, and nothing is decided.',
  'contract-29.remembered-wires':
    'The AI SDK’s body and AG-UI’s payload remember a decision, and their streams show what it settled.',
  'contract-29.remembered-exported': 'A user’s export has what is remembered for its sessions and the user.',
  'contract-29.remembered-retention': 'Old decisions of a user without a session go after SESSION_RETENTION_DAYS.',
  'contract-29.revoked': 'What is remembered is listed and revoked; then calls wait again.',
  'contract-29.remembered-pages':
    'A call that an earlier decision settled links to it; the session’s page lists what is remembered, and revokes it.',
  'contract-29.busy-machine':
    'A check of arguments has a limit of processor time: one that waits for a processor is begun once more after a minute.',
  'contract-29.schedules':
    'Whatever decides, expires, cancels or dies: no call is made without a decision that covers it, none twice, none is lost.',
}
