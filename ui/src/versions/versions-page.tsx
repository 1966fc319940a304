/** `/agents/:id/versions?n=`: every state that the agent has had, and the way back to each. */
import { Anchor, Badge, Table } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { agentResource } from '../agents/resource.ts'
import { ApiError } from '../api.ts'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import blocks from '../blocks/blocks.module.css'
import { Gone } from '../blocks/messages/gone.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { useSearchParams } from '../blocks/search-params.ts'
import { Differences } from './differences.tsx'
import { type AgentVersion, VERSIONS_SHOWN, versionList } from './queries.ts'
import classes from './versions.module.css'

export function Component() {
  const { id = '' } = useParams()
  const agent = useQuery(agentResource.one(id))
  return (
    <Page
      title="Versions"
      description="Each change of the model, prompt, settings or tools makes a version. Publishing an older one makes a new version that equals it."
      back={{ to: `/agents/${id}`, label: agent.data?.name ?? 'Agent' }}
      width="full"
    >
      {agent.error instanceof ApiError && agent.error.status === 404 ? (
        <Gone noun="agent" />
      ) : (
        <WhenRead query={agent} awaited={<AwaitedLines />}>
          {({ version }) => <Versions key={id} agentId={id} live={version} />}
        </WhenRead>
      )}
    </Page>
  )
}

function Versions({ agentId, live }: { agentId: string; live: number }) {
  const { params, setOffset } = usePaging()
  const [search] = useSearchParams()
  const chosen = search.get('n') ?? ''
  const n = /^[1-9]\d{0,8}$/.test(chosen) ? Number(chosen) : live
  const list = useQuery({ ...versionList(agentId, params.offset), placeholderData: keepPreviousData })
  const addressOf = (number: number) => `?n=${number}${params.offset === 0 ? '' : `&offset=${params.offset}`}`
  return (
    <WhenRead query={list} awaited={<AwaitedLines />}>
      {({ versions, total }) => (
        <div className={classes.versions}>
          <div>
            <div className={blocks.card}>
              <Table className={blocks.table} aria-label="Versions">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th w="9.5rem">Version</Table.Th>
                    <Table.Th w="9rem">Made</Table.Th>
                    <Table.Th data-minor>By</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {versions.map((version) => (
                    <Row
                      key={version.number}
                      version={version}
                      isShown={version.number === n}
                      address={addressOf(version.number)}
                    />
                  ))}
                </Table.Tbody>
              </Table>
            </div>
            <Pager total={total} limit={VERSIONS_SHOWN} offset={params.offset} onOffset={setOffset} />
          </div>
          <Differences
            key={n}
            agentId={agentId}
            n={n}
            live={live}
            numbers={[...new Set([...versions.map(({ number }) => number), live])]}
          />
        </div>
      )}
    </WhenRead>
  )
}

interface RowProps {
  version: AgentVersion
  isShown: boolean
  address: string
}

const Row = ({ version: { number, createdAt, createdBy, note, live }, isShown, address }: RowProps) => (
  <Table.Tr className={classes.row ?? ''} aria-current={isShown || undefined}>
    <Table.Td>
      <Anchor component={Link} to={address} preventScrollReset fz="sm">
        Version {number}
      </Anchor>{' '}
      {live && (
        <Badge color="gray" variant="light" tt="none">
          Live
        </Badge>
      )}
      {note !== null && <div className={classes.note}>{note}</div>}
    </Table.Td>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <RelativeTime iso={createdAt} />
    </Table.Td>
    <Table.Td data-minor>{createdBy !== null && <bdi>{createdBy}</bdi>}</Table.Td>
  </Table.Tr>
)
