/** How long replies took, how many failed, what they cost: by agent and by model. */
import { Button, Group, SegmentedControl } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCoin } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AwaitedLines } from '../../blocks/awaited/awaited.tsx'
import { Card } from '../../blocks/card.tsx'
import { WhenRead } from '../../blocks/messages/when-read.tsx'
import { PricesDialog } from '../prices-dialog.tsx'
import { figuresQuery, type Period, pricesQuery } from '../queries.ts'
import { FiguresTable } from './figures-table.tsx'
import { modelNames, useAgentNames } from './names.tsx'

export function Figures({ period }: { period: Period }) {
  const agentNames = useAgentNames()
  const [groupBy, setGroupBy] = useState<'agent' | 'model'>('model')
  const figures = useQuery({ ...figuresQuery(groupBy, period), placeholderData: keepPreviousData })
  const models = useQuery(figuresQuery('model', period)).data?.rows.map(({ key }) => key) ?? []
  const prices = useQuery(pricesQuery).data
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <Card
      title="Speed, errors and cost"
      aside={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Rows"
            data={[
              { value: 'model', label: 'Models' },
              { value: 'agent', label: 'Agents' },
            ]}
            value={groupBy}
            onChange={(value) => setGroupBy(value === 'agent' ? 'agent' : 'model')}
          />
          <Button size="compact-sm" variant="default" leftSection={<IconCoin size={15} aria-hidden />} onClick={open}>
            Prices
          </Button>
        </Group>
      }
    >
      <WhenRead query={figures} awaited={<AwaitedLines count={6} />}>
        {({ rows }) => (
          <FiguresTable
            rows={rows}
            names={groupBy === 'agent' ? agentNames : modelNames}
            currency={prices && prices.prices.length > 0 ? prices.currency : null}
          />
        )}
      </WhenRead>
      {isOpen && <PricesDialog models={models} onClose={close} />}
    </Card>
  )
}
