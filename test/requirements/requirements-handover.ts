/** The rules of contract section 21, a reply outlives its process: a part of requirements.ts. */
export const handover = {
  'contract-21.boundary':
    'A draining instance hands over a reply whose turn of calls is whole; its readers there read on to the end.',
  'contract-21.continued': 'With `continue`, another instance goes on with a reply whose instance is lost or stops.',
  'contract-21.database': 'With `continue`, what could not be stored for a lease goes on when the database is back.',
  'contract-21.default': 'With `error`, the default, a lost reply ends as in section 4.',
  'contract-21.calls': 'A call without a stored result has an unknown outcome and is never made again.',
  'contract-21.stored': 'What a reply needs to go on is stored under a version; none changes.',
  'contract-21.beginning':
    'A text is gone on behind with that text as the beginning of the answer where provider and model take one, else told.',
  'contract-21.overlap':
    'Where a model was told to go on, 16 to 200 characters that repeat the end of what is there are not shown again.',
  'contract-21.losses':
    'A reply that is lost for the third time without a new frame, or for the tenth in all, ends; nor is one taken over too late.',
  'contract-21.cancel': 'A cancel reaches a reply also while nobody owns it, before any call.',
  'contract-21.owner': 'A reply has one owner; it changes in one step, and the former one stores nothing more.',
  'contract-21.older': 'Beside an older version a reply may end as before; it never runs on for ever.',
} as const
