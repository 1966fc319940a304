/** The rules of contract section 14, a conversation has branches: a part of requirements.ts. */
export const branches = {
  'contract-14.tree':
    'Messages carry their parent, sessions their head; reads show the path, ?branches=all every message.',
  'contract-14.straight': 'A conversation that nobody edits reads as before, and stores nothing new.',
  'contract-14.edit': 'parent_id puts a message beside others: nothing is changed or lost; wrong ones are 400.',
  'contract-14.regenerate':
    'regenerate answers a stored user message once more; without one, or beside parent_id: 400.',
  'contract-14.retry': 'A retry joins only where parent_id and regenerate are those of the first request.',
  'contract-14.head': 'POST …/head turns the path to a leaf; 409 while a reply runs, 400 for an unknown message.',
  'contract-14.one-stream': 'One reply runs, ids rise through all branches, the stream is that of the newest reply.',
  'contract-14.model': 'The model is sent exactly the path.',
  'contract-14.transitions': 'A message in the chart and in the transitions carries its parent.',
  'contract-14.fork': 'fork_of copies a path, up to a message and a frame; wrong ones are 400 or 404.',
  'contract-14.fork-bytes': 'A fork at any frame is byte for byte what a reader had seen then.',
  'contract-14.fork-record': 'A fork carries forked_from, its parent’s fields where it brings none, frames of its own.',
  'contract-14.playground': 'The playground has all of it on its own paths, in camel case.',
  'contract-14.ai-sdk': 'The AI SDK’s edits and regenerates find their place among the stored messages.',
  'contract-14.client': 'The client edits, regenerates, turns the head and forks.',
  'contract-14.pages':
    'The pages edit, regenerate, switch branches and fork, at a message and at a place in a sentence.',
  'contract-14.paths': 'After any sequence of actions each path reads as its reader saw it.',
} as const
