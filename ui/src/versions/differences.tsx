/** The changes of a version, or what publishing it would change, field by field. */
import { Button, Select, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Diff } from '../blocks/diff/diff.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { AwaitedLines } from '../blocks/pages/awaited.tsx'
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
}

/** Give it the number as its key: its choice belongs to the version. */
export function Differences({ agentId, n, live }: DifferencesProps) {
  const others = [
    ...(n > 1 ? [{ value: String(n - 1), label: `Version ${n - 1}, before it` }] : []),
    ...(live !== n && live !== n - 1 ? [{ value: String(live), label: `Version ${live}, live` }] : []),
  ]
  const [from, setFrom] = useState(others[0]?.value ?? null)
  const shown = useQuery(oneVersion(agentId, n))
  const refusal = useRefusal('change')
  const publishing = useMutation({
    mutationFn: () => publishVersion(agentId, n),
    onSuccess: ({ number }) => notifications.show({ message: `Version ${number} is live. It equals version ${n}.` }),
  })
  return (
    <Panel
      title={`Version ${n}`}
      description={n === live ? 'Live: it answers requests that ask for no other.' : undefined}
      action={
        n !== live && (
          <Button
            size="xs"
            loading={publishing.isPending}
            onClick={() => publishing.mutate()}
            disabled={refusal !== undefined}
            title={refusal}
          >
            Publish this version
          </Button>
        )
      }
    >
      <ErrorAlert error={publishing.error} />
      {others.length > 1 && (
        <Select
          label="Compared with"
          size="xs"
          maw={260}
          allowDeselect={false}
          data={others}
          value={from}
          onChange={setFrom}
        />
      )}
      <WhenRead query={shown} awaited={<AwaitedLines count={6} />}>
        {(version) =>
          from === null ? <Whole version={version} /> : <From agentId={agentId} from={Number(from)} to={version} />
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
