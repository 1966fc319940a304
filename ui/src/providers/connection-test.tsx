/** Tests the connection to the provider, and lists its models. */
import { Alert, Anchor, Button, Text } from '@mantine/core'
import { IconBolt, IconCheck, IconPlugOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { NameSearch } from '../blocks/pages/name-search.tsx'
import { Panel } from '../blocks/panel.tsx'
import { useRefusal } from '../login/roles.ts'
import classes from './providers.module.css'
import { providerTest } from './resource.ts'

interface ConnectionTestProps {
  providerId: string
  /** True if the test starts at once: the provider was just created. */
  atOnce: boolean
}

export function ConnectionTest({ providerId, atOnce }: ConnectionTestProps) {
  const [isAsked, setIsAsked] = useState(atOnce)
  const { data, error, isFetching, refetch } = useQuery({ ...providerTest(providerId), enabled: isAsked })
  const refusal = useRefusal('change')
  const ask = () => {
    if (isAsked) void refetch()
    setIsAsked(true)
  }
  return (
    <Panel
      title="Connection"
      description={data || error ? undefined : 'Calls the provider with the stored key and lists its models.'}
      action={
        <Button
          variant="default"
          size="xs"
          leftSection={<IconBolt size={14} aria-hidden />}
          loading={isFetching}
          onClick={ask}
          disabled={refusal !== undefined}
          title={refusal}
        >
          {data ? 'Test again' : 'Test connection'}
        </Button>
      }
    >
      <div role="status">
        {isFetching && !data && <Text fz="sm">Asking…</Text>}
        <ErrorAlert error={error} />
        {data && (
          <Alert
            color={data.ok ? 'accent' : 'red'}
            icon={data.ok ? <IconCheck aria-hidden /> : <IconPlugOff aria-hidden />}
            title={data.ok ? `Answered in ${data.latencyMs} ms` : 'The test failed'}
          >
            {data.message}
          </Alert>
        )}
      </div>
      {data && data.models.length > 0 && <Models providerId={providerId} models={data.models} />}
      {data?.ok && data.models.length === 0 && (
        <Button component={Link} to={`/agents/new?provider=${providerId}`} variant="light">
          Create an agent
        </Button>
      )}
    </Panel>
  )
}

/** More are not rendered: the search finds them. */
const mostShown = 200

const Models = ({ providerId, models }: { providerId: string; models: string[] }) => (
  <NameSearch items={models} name={(model) => model} nouns="models">
    {(found) => (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      <ul className={classes.models} aria-label="Models" tabIndex={0}>
        {found.slice(0, mostShown).map((model) => (
          <li key={model} className={classes.model}>
            <span>{model}</span>
            <Anchor
              component={Link}
              to={`/agents/new?${new URLSearchParams({ provider: providerId, model })}`}
              fz="sm"
              aria-label={`Create an agent with ${model}`}
            >
              Create an agent
            </Anchor>
          </li>
        ))}
        {found.length === 0 && <li className={classes.model}>No results</li>}
        {found.length > mostShown && (
          <li className={classes.model}>{found.length - mostShown} more: narrow the search.</li>
        )}
      </ul>
    )}
  </NameSearch>
)
