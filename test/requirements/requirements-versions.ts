/** The rules of contract section 28, versions, drafts, replays and feedback: a part of requirements.ts. */
export const versions = {
  'contract-28.versions':
    'Every change of what replies depend on makes one version with its change, and nothing else makes one.',
  'contract-28.numbers': 'Numbers count from 1 without gaps, whichever instance makes them, and are never used twice.',
  'contract-28.system-prompt': 'An agent has a promptId or a systemPrompt; setting one clears the other.',
  'contract-28.publish': 'A version is published again as a new one; what is gone is left out, but for providers.',
  'contract-28.kept': 'Of the versions that nothing names the newest 200 stay.',
  'contract-28.draft': 'A draft holds changed fields over the live version, and publishing it makes them live.',
  'contract-28.draft-tags': 'Answers with draft=true have tags of their own; a mistyped parameter never publishes.',
  'contract-28.draft-in-use': 'What a draft uses cannot be deleted; tools that are deleted leave it.',
  'contract-28.answers':
    'A reply uses the version that its request asks for, else its session’s pin, else the live one, to its end.',
  'contract-28.pins': 'Sessions are pinned when they are made and changed; copies take the pin.',
  'contract-28.unfit':
    'No such version is 400, a client secret’s is 403, a provider that is gone is 409: nothing is stored.',
  'contract-28.on-record': 'Messages of the playground and traces tell the version.',
  'contract-28.used-metadata': 'Metadata that the draft or a pin uses is not a client secret’s to set.',
  'contract-28.feedback': 'Feedback is one for each user or login and reply, is read with it, and goes with it.',
  'contract-28.feedback-refused': 'What is no reply that has ended, of the session, gets no feedback.',
  'contract-28.feedback-told': 'Feedback is filtered by, summed in the usage of its version, and told to webhooks.',
  'contract-28.feedback-quiet': 'Feedback is no update, leaves no entry, and counts under no limit but a secret’s.',
  'contract-28.usage': 'Usage is summed by version, stateless replies included.',
  'contract-28.replay': 'A replay asks stored questions again under another version, and shows old and new.',
  'contract-28.replay-acts-not':
    'A replay calls no tool and touches no session; a call that is not on record ends its case.',
  'contract-28.replay-values': 'The values of a case are those of the reply’s admission.',
  'contract-28.replay-refused': 'What cannot be replayed is refused, and one replay runs for each agent.',
  'contract-28.replay-lost': 'A case of a lost instance begins anew, and is given up at the third loss.',
  'contract-28.costs': 'A reply that uses nothing of it reads no draft and no feedback, and writes no row more.',
  'contract-28.replay-room': 'The cases of replays leave places to the replies of people.',
  'contract-28.proposed': 'An import may change drafts alone.',
  'contract-28.workbench': 'The workbench changes the draft, which answers its chats.',
  'contract-28.audit': 'Publishing, a change of the draft and its removal have entries.',
} as const
