/** A dialog for the prices of models. */
import { ActionIcon, Autocomplete, Button, Group, Modal, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { type ModelPrices, savePrices } from './queries.ts'

interface PricesDialogProps {
  known: ModelPrices
  /** Offered by their names: those that were used. */
  models: readonly string[]
  onClose: () => void
}

type Price = ModelPrices['prices'][number]

const none: Price = { model: '', prompt: 0, completion: 0 }

/** An empty field: the price of reading. */
const optionalPrice = (value: number | string): number | undefined => (value === '' ? undefined : Number(value))

function withPrice(price: Price, name: 'cachedPrompt' | 'cacheWrite', value: number | string): Price {
  const { [name]: _, ...rest } = price
  const given = optionalPrice(value)
  return given === undefined ? rest : { ...rest, [name]: given }
}

export function PricesDialog({ known, models, onClose }: PricesDialogProps) {
  const [currency, setCurrency] = useState(known.currency)
  const [prices, setPrices] = useState(known.prices.length > 0 ? known.prices : [none])
  const [error, setError] = useState<unknown>(null)
  const replace = (index: number, changed: Price) =>
    setPrices(prices.map((price, at) => (at === index ? changed : price)))
  const save = async () => {
    try {
      await savePrices({ currency, prices: prices.filter(({ model }) => model.trim() !== '') })
      onClose()
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <Modal opened onClose={onClose} title="Prices" size="lg">
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          Per million tokens, by model name. They only appear as costs on this page.
        </Text>
        {error !== null && <ErrorAlert error={error} />}
        <TextInput
          label="Currency"
          w={110}
          maxLength={8}
          value={currency}
          onChange={(event) => setCurrency(event.currentTarget.value)}
        />
        {prices.map((price, index) => (
          <Group key={index} gap="xs" wrap="nowrap" align="end">
            <Autocomplete
              label="Model"
              flex={1}
              data={models.filter((model) => model === price.model || !prices.some((one) => one.model === model))}
              value={price.model}
              onChange={(model) => replace(index, { ...price, model })}
            />
            <NumberInput
              label="Input"
              w={110}
              min={0}
              value={price.prompt}
              onChange={(value) => replace(index, { ...price, prompt: Number(value) || 0 })}
            />
            <NumberInput
              label="Cached"
              w={90}
              min={0}
              placeholder={String(price.prompt)}
              value={price.cachedPrompt ?? ''}
              onChange={(value) => replace(index, withPrice(price, 'cachedPrompt', value))}
            />
            <NumberInput
              label="Output"
              w={110}
              min={0}
              value={price.completion}
              onChange={(value) => replace(index, { ...price, completion: Number(value) || 0 })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove the price of ${price.model || 'this row'}`}
              onClick={() => setPrices(prices.filter((_, at) => at !== index))}
            >
              <IconTrash size={16} stroke={1.7} />
            </ActionIcon>
          </Group>
        ))}
        <Group justify="space-between">
          <Button
            variant="default"
            leftSection={<IconPlus size={15} aria-hidden />}
            onClick={() => setPrices([...prices, none])}
          >
            Add a model
          </Button>
          <Button onClick={() => void save()} disabled={currency.trim() === ''}>
            Save prices
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
