/** `/replays/:agentId`: the replays of an agent, and the start of one. */
import { Anchor, Button, Group, NumberInput, Select, Table, Text } from '@mantine/core'
import { IconPlayerTrackNext } from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { type Agent, agentResource } from '../agents/resource.ts'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import blocks from '../blocks/blocks.module.css'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { Panel } from '../blocks/panel.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { capitalized } from '../blocks/words.ts'
import { useRefusal } from '../login/roles.ts'
import { versionList } from '../versions/queries.ts'
import { nothingToReplay, PAGE, replayList, replaysPath, startReplay, type Wanted } from './queries.ts'
import classes from './replays.module.css'
import { versionWords } from './sums.ts'
import { SumsLine } from './sums-line.tsx'
import type { Replay } from './types.ts'

export function Component() {
  const { agentId = '' } = useParams()
  const agent = useQuery(agentResource.one(agentId))
  return (
    <Page
      title="Replays"
      description="Stored questions are asked again under another version. No tool is called, and no session changes."
      back={{ to: `/agents/${agentId}`, label: agent.data?.name ?? 'Agent' }}
    >
      <WhenRead query={agent} awaited={<AwaitedLines />}>
        {(read) => (
          <>
            <Start key={agentId} agent={read} />
            <List agentId={agentId} />
          </>
        )}
      </WhenRead>
    </Page>
  )
}

const choices = [
  { value: 'down', label: 'With a thumb down', nothing: 'No reply of this agent has a thumb down yet.' },
  { value: 'up', label: 'With a thumb up', nothing: 'No reply of this agent has a thumb up yet.' },
  { value: 'any', label: 'With any feedback', nothing: 'No reply of this agent has any feedback yet.' },
  { value: 'newest', label: 'The newest', nothing: 'This agent has no reply yet.' },
]

const feedbackOf = (choice: string): Wanted['feedback'] =>
  choice === 'down' || choice === 'up' || choice === 'any' ? choice : null

function Start({ agent }: { agent: Agent }) {
  const [version, setVersion] = useState(agent.hasDraft ? 'draft' : String(agent.version))
  const [choice, setChoice] = useState('down')
  const [limit, setLimit] = useState<number | string>(50)
  const versions = useQuery(versionList(agent.id, 0)).data?.versions ?? []
  const navigate = useNavigate()
  const isNothing = useQuery(nothingToReplay(agent.id, feedbackOf(choice))).data === true
  const refusal = useRefusal('change')
  const starting = useMutation({
    mutationFn: () =>
      startReplay(agent.id, {
        version: version === 'draft' ? version : Number(version),
        feedback: feedbackOf(choice),
        limit: Number(limit),
      }),
    onSuccess: ({ id }) => navigate(replaysPath(agent.id, id)),
  })
  const numbers = versions.length === 0 ? [agent.version] : versions.map(({ number }) => number)
  const data = [
    ...(agent.hasDraft ? [{ value: 'draft', label: 'The draft' }] : []),
    ...numbers.map((n) => ({ value: String(n), label: `Version ${n}${n === agent.version ? ', live' : ''}` })),
  ]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    starting.mutate()
  }
  return (
    <Panel title="Ask again">
      <form onSubmit={submit}>
        <Group gap="sm" align="flex-end" className={classes.start ?? ''}>
          <Select
            label="Version"
            allowDeselect={false}
            data={data}
            value={version}
            onChange={(value) => setVersion(value ?? version)}
          />
          <Select
            label="Which replies"
            allowDeselect={false}
            data={choices}
            value={choice}
            onChange={(value) => setChoice(value ?? choice)}
          />
          <NumberInput label="At most" w={100} min={1} max={200} value={limit} onChange={setLimit} />
          <Button
            loading={starting.isPending}
            disabled={refusal !== undefined || isNothing}
            title={refusal}
            type="submit"
          >
            Start
          </Button>
        </Group>
      </form>
      {isNothing && (
        <Text fz="sm" c="dimmed" mt="sm" role="status">
          {choices.find(({ value }) => value === choice)?.nothing} Replies can be replayed once they have ended; copies
          in a branch and messages that a caller gave cannot.
        </Text>
      )}
      <ErrorAlert error={starting.error} />
    </Panel>
  )
}

function List({ agentId }: { agentId: string }) {
  const { params, setOffset } = usePaging()
  const list = useQuery({ ...replayList(agentId, params.offset), placeholderData: keepPreviousData })
  return (
    <WhenRead query={list} awaited={<AwaitedLines />}>
      {({ replays, total }) =>
        total === 0 ? (
          <div className={classes.list}>
            <EmptyState icon={IconPlayerTrackNext} title="No replays yet">
              Choose a version and the replies whose questions it is asked. Old and new replies then stand side by side.
            </EmptyState>
          </div>
        ) : (
          <>
            <div className={`${blocks.card} ${classes.list}`}>
              <Table className={blocks.table} aria-label="Replays">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th className={classes.replay ?? ''}>Replay</Table.Th>
                    <Table.Th w="7rem">Status</Table.Th>
                    <Table.Th data-minor>Results</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {replays.map((replay) => (
                    <Row key={replay.id} replay={replay} />
                  ))}
                </Table.Tbody>
              </Table>
            </div>
            <Pager total={total} limit={PAGE} offset={params.offset} onOffset={setOffset} />
          </>
        )
      }
    </WhenRead>
  )
}

const Row = ({ replay }: { replay: Replay }) => (
  <Table.Tr>
    <Table.Td>
      <Anchor component={Link} to={replaysPath(replay.agentId, replay.id)} fz="sm">
        {capitalized(versionWords(replay.version))}
      </Anchor>{' '}
      <RelativeTime iso={replay.createdAt} />
      {/* On narrow windows, where the column is hidden. */}
      <div className={classes.below}>
        <SumsLine replay={replay} />
      </div>
    </Table.Td>
    <Table.Td>{capitalized(replay.status)}</Table.Td>
    <Table.Td data-minor>
      <SumsLine replay={replay} />
    </Table.Td>
  </Table.Tr>
)
