/** The changes of a version, or what publishing it would change, field by field. */
import { Button, Group, Modal, Select, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { Diff } from '../blocks/diff/diff.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { tellUndoable } from '../blocks/messages/undoable.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { Panel } from '../blocks/panel.tsx'
import { httpToolResource } from '../http-tools/resource.ts'
import { useRefusal } from '../login/roles.ts'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import { providerResource } from '../providers/resource.ts'
import { differencesOf, heldTexts } from './held.ts'
import { type AgentVersionDetail, oneVersion, publishVersion } from './queries.ts'
import classes from './versions.module.css'

interface DifferencesProps {
  agentId: string
  /** The number of the version that is shown. */
  n: number
  /** The number of the live version. */
  live: number
  /** The numbers of the versions with which it can be compared, newest first. */
  numbers: readonly number[]
}

/** Give it the number as its key: its choice belongs to the version. */
export function Differences({ agentId, n, live, numbers }: DifferencesProps) {
  const others = numbers
    .filter((one) => one !== n)
    .map((one) => ({ value: String(one), label: one === live ? `Version ${one}, live` : `Version ${one}` }))
  const [from, setFrom] = useState(String(numbers.find((one) => one < n) ?? others[0]?.value ?? ''))
  const shown = useQuery(oneVersion(agentId, n))
  const refusal = useRefusal('change')
  const [isAsking, asking] = useDisclosure()
  const publishing = useMutation({
    mutationFn: () => publishVersion(agentId, n),
    onSettled: asking.close,
    onSuccess: ({ number }) =>
      tellUndoable(`Version ${number} is live. It equals version ${n}.`, () => publishVersion(agentId, live)),
  })
  return (
    <Panel
      title={`Version ${n}`}
      description={n === live ? 'Live: it answers requests that ask for no other.' : undefined}
      action={
        n !== live && (
          <Button size="xs" onClick={asking.open} disabled={refusal !== undefined} title={refusal}>
            Publish this version
          </Button>
        )
      }
    >
      <ErrorAlert error={publishing.error} />
      <Modal opened={isAsking} onClose={asking.close} title={`Publish version ${n}?`}>
        <Text mb="lg">A new version that equals it answers every request from then on. A draft stays as it is.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={asking.close} data-autofocus>
            Cancel
          </Button>
          <Button loading={publishing.isPending} onClick={() => publishing.mutate()}>
            Publish
          </Button>
        </Group>
      </Modal>
      {others.length > 0 && (
        <Select
          label="Compared with"
          size="xs"
          maw={260}
          allowDeselect={false}
          data={others}
          value={from}
          onChange={(value) => setFrom(value ?? '')}
        />
      )}
      <WhenRead query={shown} awaited={<AwaitedLines count={6} />}>
        {(version) =>
          from === '' ? <Whole version={version} /> : <From agentId={agentId} from={Number(from)} to={version} />
        }
      </WhenRead>
    </Panel>
  )
}

/** Returns the names of what versions name by id. What is gone, and built-in tools, stay as they are. */
function useNames(): ReadonlyMap<string, string> {
  const all = [
    useQuery(providerResource.all).data,
    useQuery(httpToolResource.all).data,
    useQuery(mcpServerResource.all).data,
  ]
  return new Map(all.flatMap((records) => (records ?? []).map(({ id, name }): [string, string] => [id, name])))
}

/** The first version: there is nothing to compare it with. */
function Whole({ version }: { version: AgentVersionDetail }) {
  const held = [...heldTexts(version, useNames())].filter(([, text]) => text !== '')
  return <Fields fields={held.map(([name, text]) => ({ name, from: text, to: text }))} />
}

function From({ agentId, from, to }: { agentId: string; from: number; to: AgentVersionDetail }) {
  const names = useNames()
  const before = useQuery({ ...oneVersion(agentId, from), retry: false })
  return (
    <WhenRead query={before} awaited={<AwaitedLines count={6} />}>
      {(version) => {
        const fields = differencesOf(version, to, names)
        return fields.length === 0 ? <Text fz="sm">Equal to version {from}.</Text> : <Fields fields={fields} />
      }}
    </WhenRead>
  )
}

const CONTEXT = 3

const Fields = ({ fields }: { fields: readonly { name: string; from: string; to: string }[] }) => (
  <div className={classes.changes}>
    {fields.map(({ name, from, to }) => (
      <section key={name} aria-label={name}>
        <div className={classes.field}>{name}</div>
        <Diff from={from} to={to} {...(from !== to && { context: CONTEXT })} />
      </section>
    ))}
  </div>
)
