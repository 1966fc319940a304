/** Pieces of messages that a search has found. */
import Type from 'typebox'
import { id, oneOf, time } from '../basics.ts'

const marks = Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
  description: 'Where the found parts stand in `text`, each as its start and end in UTF-16 code units.',
})
/** Returns the fields of a snippet, two of which are called differently in the two scopes. */
export const snippetFields = (name: { id: string; time: string }) => ({
  [name.id]: id('Id of the message.'),
  role: oneOf(['user', 'assistant'], 'Whose message it is.'),
  text: Type.String({ description: 'A piece of its text, at most 240 UTF-16 code units.' }),
  marks,
  [name.time]: time('When the message was stored.'),
})
