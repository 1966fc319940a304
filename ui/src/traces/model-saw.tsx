/** The messages that the model was sent, turn by turn, as the provider got them. */

import { Group, Loader, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { writeExact } from '../../../src/untrusted/exact-json.ts'
import { wordsOf } from '../api.ts'
import { CodeBlock } from '../blocks/code-block.tsx'
import { Copy } from '../blocks/copy.tsx'
import { providerResource, providerTypes } from '../providers/resource.ts'
import { requestsOf } from './queries.ts'
import classes from './traces.module.css'
import type { ModelRequest } from './types.ts'
import { curlOf, leftWords } from './words.ts'

interface ModelSawProps {
  messageId: string
  /** The request that is shown. */
  turn: number
  onTurn: (turn: number) => void
}

export function ModelSaw({ messageId, turn, onTurn }: ModelSawProps) {
  const { data, error, isPending } = useQuery(requestsOf(messageId))
  if (error) return <Text fz="sm">{wordsOf(error)}</Text>
  if (isPending) return <Loader size="sm" role="img" aria-label="Loading" />
  const request = data.find((one) => one.turn === turn) ?? data.at(-1)
  if (request === undefined) {
    return (
      <Text fz="sm" c="dimmed">
        Nothing was sent to the model, or the record is older than the retention period.
      </Text>
    )
  }
  const left = leftWords(request)
  return (
    <div className={classes.saw}>
      <Group justify="space-between" gap="xs">
        {data.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Model turn"
            data={data.map((one) => ({ value: String(one.turn), label: `Turn ${one.turn}` }))}
            value={String(request.turn)}
            onChange={(value) => onTurn(Number(value))}
          />
        )}
        <AsCurl request={request} />
      </Group>
      {left && (
        <Text fz="sm" className={classes.left ?? ''}>
          {left}
        </Text>
      )}
      <CodeBlock code={writeExact(request.body, 2)} caption="request as JSON" />
    </div>
  )
}

/** Null while the provider is not known, or when it is gone. */
function AsCurl({ request }: { request: ModelRequest }) {
  const provider = useQuery({ ...providerResource.one(request.providerId), retry: false }).data
  const types = useQuery(providerTypes).data
  const type = types?.find(({ id }) => id === provider?.providerType)
  const baseUrl = provider?.baseUrl ?? type?.defaultBaseUrl
  if (!provider || !baseUrl) return null
  return (
    <Group gap={4} ml="auto" fz="xs" c="dimmed">
      curl
      <Copy text={curlOf(request, { type: provider.providerType, baseUrl })} label="Copy as curl" />
    </Group>
  )
}
