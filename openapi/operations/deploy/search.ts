import { operations } from '../../operation.ts'
import { SearchResults, searchQuery } from '../../schemas/conversation/search.ts'

export const search = operations({
  searchSessions: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/agents/{agent_id}/deploy/sessions/search',
    scope: 'deploy',
    secret: 'user',
    summary: 'Search the messages of the agent’s sessions',
    description:
      'Sessions whose messages hold all that `q` asks for in one of them, the one with the newest first. A client secret searches the sessions of its user.',
    query: searchQuery,
    responses: { 200: SearchResults },
    errors: {
      404: 'There is no such agent.',
      503: 'Other searches are running (see `Retry-After`), or this one took too long: ask for more words, or a `user`.',
    },
  },
})
