/** A dialog for the prices of models. */
import { ActionIcon, Autocomplete, Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../api.ts'
import { AwaitedFields } from '../blocks/awaited/awaited.tsx'
import { ChangedElsewhere } from '../blocks/editing/changed-elsewhere.tsx'
import { useEdits } from '../blocks/editing/edits.ts'
import { useNewest } from '../blocks/editing/use-newest.ts'
import { OpenedModal } from '../blocks/late/opened-modal.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { useRefusal } from '../login/roles.ts'
import { type ModelPrices, pricesPath, pricesQuery, savePrices } from './queries.ts'
import classes from './usage.module.css'

interface PricesDialogProps {
  /** Offered by their names: those that were used. */
  models: readonly string[]
  onClose: () => void
}

type Price = ModelPrices['prices'][number]

const none: Price = { model: '', prompt: 0, completion: 0 }

/** Returns the price in a field; an empty field means the price of reading. */
const optionalPrice = (value: number | string): number | undefined => (value === '' ? undefined : Number(value))

function withPrice(price: Price, name: 'cachedPrompt' | 'cacheWrite', value: number | string): Price {
  const { [name]: _, ...rest } = price
  const given = optionalPrice(value)
  return given === undefined ? rest : { ...rest, [name]: given }
}

export function PricesDialog({ models, onClose }: PricesDialogProps) {
  const [version, setVersion] = useState(0)
  const prices = useNewest(pricesQuery)
  const reload = () => void prices.refetch().then(() => setVersion((before) => before + 1))
  return (
    <OpenedModal onClose={onClose} title="Prices" size="lg">
      <WhenRead query={prices} awaited={<AwaitedFields count={2} />}>
        {(known) => <Prices key={version} known={known} models={models} onClose={onClose} onReload={reload} />}
      </WhenRead>
    </OpenedModal>
  )
}

interface PricesProps extends PricesDialogProps {
  known: ModelPrices
  onReload: () => void
}

function Prices({ known, models, onClose, onReload }: PricesProps) {
  const edits = useEdits(pricesPath)
  const [currency, setCurrency] = useState(known.currency)
  const [prices, setPrices] = useState(known.prices.length > 0 ? known.prices : [none])
  const saving = useMutation({
    mutationFn: () => savePrices({ currency, prices: prices.filter(({ model }) => model.trim() !== '') }, edits),
    onSuccess: onClose,
  })
  const refusal = useRefusal('change')
  const isChangedElsewhere = saving.error instanceof ApiError && saving.error.status === 412
  const overwrite = () => {
    edits.letGo()
    saving.mutate()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          Per million tokens, by model name. They only appear as costs on this page.
        </Text>
        {isChangedElsewhere ? (
          <ChangedElsewhere error={saving.error} onReload={onReload} onOverwrite={overwrite} />
        ) : (
          <ErrorAlert error={saving.error} />
        )}
        <TextInput
          label="Currency"
          w={110}
          autoFocus
          data-autofocus
          maxLength={8}
          value={currency}
          onChange={(event) => setCurrency(event.currentTarget.value)}
        />
        {prices.map((price, index) => (
          <PriceFields
            key={index}
            price={price}
            models={models.filter((model) => model === price.model || !prices.some((one) => one.model === model))}
            onChange={(changed) => setPrices(prices.map((one, at) => (at === index ? changed : one)))}
            onRemove={() => setPrices(prices.filter((_, at) => at !== index))}
          />
        ))}
        <Group justify="space-between">
          <Button
            variant="default"
            leftSection={<IconPlus size={15} aria-hidden />}
            onClick={() => setPrices([...prices, none])}
          >
            Add a model
          </Button>
          <Button
            type="submit"
            loading={saving.isPending}
            disabled={refusal !== undefined || currency.trim() === ''}
            title={refusal}
          >
            Save prices
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface PriceFieldsProps {
  price: Price
  models: string[]
  onChange: (price: Price) => void
  onRemove: () => void
}

const PriceFields = ({ price, models, onChange, onRemove }: PriceFieldsProps) => (
  <div className={classes.price}>
    <Autocomplete label="Model" data={models} value={price.model} onChange={(model) => onChange({ ...price, model })} />
    <NumberInput
      label="Input"
      min={0}
      value={price.prompt}
      onChange={(value) => onChange({ ...price, prompt: Number(value) || 0 })}
    />
    <NumberInput
      label="Cached"
      min={0}
      placeholder={String(price.prompt)}
      value={price.cachedPrompt ?? ''}
      onChange={(value) => onChange(withPrice(price, 'cachedPrompt', value))}
    />
    <NumberInput
      label="Output"
      min={0}
      value={price.completion}
      onChange={(value) => onChange({ ...price, completion: Number(value) || 0 })}
    />
    <ActionIcon
      variant="subtle"
      color="gray"
      size={36}
      aria-label={`Remove the price of ${price.model || 'this row'}`}
      onClick={onRemove}
    >
      <IconTrash size={16} stroke={1.7} />
    </ActionIcon>
  </div>
)
