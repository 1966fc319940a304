/** Search in the text of messages. */
import Type, { type TObject } from 'typebox'
import { id, nullable, oneOf, time } from '../basics.ts'
import { DeploySession, sessionFilters } from './sessions.ts'

const marks = Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
  description: 'Where the found parts stand in `text`, each as its start and end in UTF-16 code units.',
})
const Snippet = Type.Object(
  {
    message_id: id('Id of the message.'),
    role: oneOf(['user', 'assistant'], 'Whose message it is.'),
    text: Type.String({ description: 'A piece of its text, at most 240 UTF-16 code units.' }),
    marks,
    created_at: time('When the message was stored.'),
  },
  { title: 'Snippet' },
)
export const SearchResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        session: DeploySession,
        snippets: Type.Array(Snippet, { description: 'The newest matching messages, three at most.' }),
      }),
    ),
    next: nullable(Type.String({ description: '`cursor` of the next page. Null on the last one.' })),
    complete: Type.Boolean({ description: 'False while text of before an upgrade is being made searchable.' }),
  },
  { title: 'SearchResults' },
)
export const searchQuery: TObject = Type.Object({
  q: Type.Optional(
    Type.String({
      description:
        'Words, each the beginning of a word, and phrases in double quotes; 1 to 200 characters, at most ten. Required.',
    }),
  ),
  ...sessionFilters,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Sessions on a page. 20 by default.' })),
  cursor: Type.Optional(Type.String({ description: '`next` of the page before.' })),
})
