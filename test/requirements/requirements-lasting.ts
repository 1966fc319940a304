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
}
