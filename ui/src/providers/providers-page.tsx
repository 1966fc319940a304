import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { plural } from '../blocks/words.ts'
import { useRefusal } from '../login/roles.ts'
import { allSessions } from '../sessions/queries.ts'
import classes from './providers.module.css'
import { type Provider, providerResource, providerTypes } from './resource.ts'

const keyWords = ({ hasApiKey, apiKeyHint }: Provider): string =>
  hasApiKey ? (apiKeyHint === null ? 'Stored' : `…${apiKeyHint}`) : 'None'

const MOST = 100

/** Returns how many sessions have failed at a provider lately, with their list. Undefined where the role opens none. */
function useFailed() {
  const mayRead = useRefusal('open', '/sessions') === undefined
  const query = allSessions({ status: 'error', newer: '24h', limit: MOST, include: 'reply' })
  const { data } = useQuery({ ...query, enabled: mayRead })
  if (!mayRead) return undefined
  return ({ id }: Provider) => {
    const count = data?.sessions.filter(({ reply }) => reply?.providerId === id).length ?? 0
    if (count === 0) return null
    return (
      <Link to={`/sessions?status=error&newer=24h&providerId=${id}`} className={classes.failed}>
        {plural(count, 'session')}
        {data?.sessions.length === MOST && '+'}
      </Link>
    )
  }
}

export function Component() {
  const { data: types } = useQuery(providerTypes)
  const failed = useFailed()
  return (
    <ListPage
      resource={providerResource}
      description="Where your models run: a vendor with your API key, or your own server."
      columns={[
        {
          header: 'Type',
          width: '11rem',
          cell: ({ providerType }) => types?.find(({ id }) => id === providerType)?.name ?? providerType,
        },
        { header: 'Key', width: '8rem', minor: true, cell: keyWords },
        ...(failed === undefined ? [] : [{ header: 'Failed in 24 h', width: '9rem', minor: true, cell: failed }]),
      ]}
      create="New provider"
      createFirst="Connect the first one"
    >
      Connect a vendor such as OpenAI or Mistral, a model server of your own, or the built-in demo that needs no key.
    </ListPage>
  )
}
