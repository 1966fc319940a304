/** Search in the text of messages. */
import Type, { type TObject } from 'typebox'
import { nullable } from '../basics.ts'
import { DeploySession, sessionFilters } from './sessions.ts'
import { snippetFields } from './snippets.ts'

const Snippet = Type.Object(snippetFields({ id: 'message_id', time: 'created_at' }), { title: 'Snippet' })
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
