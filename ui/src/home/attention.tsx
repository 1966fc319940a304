/** The webhooks whose deliveries fail, and the keys near a limit, for an admin. Nothing where all is well. */
import { Title } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { nearestLimit } from '../keys/nearest-limit.ts'
import { keyResource, keyUse } from '../keys/resource.ts'
import { useRefusal } from '../login/roles.ts'
import { healthOf } from '../webhooks/health.ts'
import { deliveriesOf, webhookResource } from '../webhooks/resource.ts'
import classes from './failures.module.css'

/** The newest ones; the lists have the others. */
const page = { limit: 20, offset: 0 }
const seldom = { refetchInterval: 60_000 }
/** The share of a limit from which on it is near. */
const NEAR = 0.8

export function Attention() {
  const webhooks = useFailingWebhooks()
  const keys = useKeysNearLimit()
  const rows = [...webhooks, ...keys]
  if (rows.length === 0) return null
  return (
    <section className={classes.failures} aria-labelledby="attention">
      <Title order={2} id="attention">
        Webhooks and keys
      </Title>
      <ul>
        {rows.map(({ to, kind, name, words, isBad }) => (
          <li key={to}>
            <Link to={to}>
              {kind} <bdi>{name}</bdi>
            </Link>
            <span className={classes.state} data-bad={isBad || undefined}>
              {words}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface Row {
  to: string
  kind: 'Webhook' | 'Key'
  name: string
  words: string
  isBad: boolean
}

function useFailingWebhooks(): Row[] {
  const mayRead = useRefusal('open', webhookResource.path) === undefined
  const found = useQuery({ ...webhookResource.list(page), ...seldom, enabled: mayRead }).data?.items ?? []
  const enabled = found.filter((webhook) => webhook.enabled)
  const deliveries = useQueries({ queries: enabled.map(({ id }) => ({ ...deliveriesOf(id, 0), ...seldom })) })
  return enabled.flatMap(({ id, name }, index): Row[] => {
    const { level, words } = healthOf(deliveries[index]?.data?.deliveries ?? [], true)
    return level === 'bad' ? [{ to: `${webhookResource.path}/${id}`, kind: 'Webhook', name, words, isBad: true }] : []
  })
}

function useKeysNearLimit(): Row[] {
  const mayRead = useRefusal('open', keyResource.path) === undefined
  const found = useQuery({ ...keyResource.list(page), ...seldom, enabled: mayRead }).data?.items ?? []
  const limited = found.filter(({ limits }) => limits !== null)
  const uses = useQueries({ queries: limited.map(({ id }) => ({ ...keyUse(id), ...seldom })) })
  return limited.flatMap(({ id, name, limits }, index): Row[] => {
    const use = uses[index]?.data
    const nearest = use === undefined ? null : nearestLimit(limits, use)
    if (nearest === null || nearest.share < NEAR) return []
    const words = `${Math.floor(nearest.share * 100)} % of ${nearest.name}`
    return [{ to: `${keyResource.path}/${id}`, kind: 'Key', name, words, isBad: nearest.share >= 1 }]
  })
}
