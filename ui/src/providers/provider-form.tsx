import { Checkbox, PasswordInput, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import { Notice } from '../blocks/messages/notice.tsx'
import type { Provider, ProviderType } from './resource.ts'

/** The form's values: it holds the key only while it is typed. */
export interface ProviderValues {
  name: string
  baseUrl: string
  /** '': the server's choice, or the type has none. */
  wireApi: NonNullable<Provider['wireApi']> | ''
  apiKey: string
  removeKey: boolean
}

const valuesOf = (provider: Provider | null, name = ''): ProviderValues => ({
  name: provider?.name ?? name,
  baseUrl: provider?.baseUrl ?? '',
  wireApi: provider?.wireApi ?? '',
  apiKey: '',
  removeKey: false,
})

/** Returns what a new provider is created of. */
export const fieldsOf = ({ id }: ProviderType, { name, apiKey, baseUrl, wireApi }: ProviderValues) => ({
  name,
  providerType: id,
  apiKey: apiKey || null,
  baseUrl: baseUrl.trim() || null,
  wireApi: wireApi || null,
})

interface ProviderFormProps {
  type: ProviderType
  /** Null while it is being created. */
  provider: Provider | null
  save: (values: ProviderValues) => Promise<Provider>
  onSaved: (provider: Provider) => void
  /** The same as in `RecordForm`. */
  isGuarded?: boolean
}

export function ProviderForm({ type, provider, save, onSaved, isGuarded = true }: ProviderFormProps) {
  const needsKey = type.requiresApiKey && !provider?.hasApiKey
  const form = useForm<ProviderValues>({
    initialValues: valuesOf(provider, type.name),
    validate: { apiKey: (key) => (needsKey && key.trim() === '' ? 'Enter the API key.' : null) },
  })
  const { baseUrl, apiKey } = form.values
  const takesKey = type.id !== 'demo'
  const address = (
    <TextInput
      label="Base URL"
      withAsterisk={type.requiresBaseUrl}
      description={addressWords(type)}
      placeholder={type.defaultBaseUrl ?? 'http://127.0.0.1:8000/v1'}
      spellCheck={false}
      {...form.getInputProps('baseUrl')}
    />
  )
  const key = (
    <>
      <PasswordInput
        label="API key"
        withAsterisk={needsKey}
        description={keyWords(type, provider)}
        placeholder={provider?.hasApiKey ? `••••••••${provider.apiKeyHint ?? ''}` : ''}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key', 'aria-hidden': false, tabIndex: 0 }}
        {...form.getInputProps('apiKey')}
        aria-invalid={form.errors.apiKey !== undefined}
      />
      {provider?.hasApiKey && !type.requiresApiKey && (
        <Checkbox
          label="Remove the stored key"
          {...form.getInputProps('removeKey', { type: 'checkbox' })}
          disabled={apiKey !== ''}
        />
      )}
    </>
  )
  return (
    <RecordForm
      form={form}
      save={save}
      onSaved={onSaved}
      valuesOf={valuesOf}
      submitLabel={provider ? 'Save' : isGuarded ? 'Create and test' : 'Create'}
      isGuarded={isGuarded}
    >
      <TextInput
        label="Name"
        withAsterisk
        description="Shown in lists. Must be unique."
        maw={420}
        {...form.getInputProps('name')}
      />
      {takesKey && (
        <>
          {type.requiresBaseUrl && address}
          {!type.requiresBaseUrl && key}
          {!type.requiresBaseUrl && address}
          {provider?.hasApiKey && apiKey === '' && moves(type, provider, baseUrl) && (
            <Notice>
              The address is on another server. Enter the key again: a stored key is sent only to the server that it was
              stored for.
            </Notice>
          )}
          {type.requiresBaseUrl && key}
          {(type.id === 'openai' || type.id === 'openai-compatible') && (
            <Select
              label="API"
              description="OpenAI’s newest models call tools by the Responses API alone. Servers of other makes may have chat completions only."
              placeholder="Chosen by type and address"
              data={apis}
              maw={420}
              {...form.getInputProps('wireApi')}
              value={form.values.wireApi || null}
            />
          )}
        </>
      )}
    </RecordForm>
  )
}

const apis = [
  { value: 'responses', label: 'Responses' },
  { value: 'chat_completions', label: 'Chat completions' },
]

function addressWords({ requiresBaseUrl, defaultBaseUrl }: ProviderType): string {
  if (requiresBaseUrl) return 'The base address of its API; paths such as /chat/completions are appended.'
  return `Only for a proxy or a server of your own. Default: ${defaultBaseUrl ?? 'built in'}.`
}

function keyWords({ requiresApiKey }: ProviderType, provider: Provider | null): string {
  if (!provider?.hasApiKey) {
    return `${requiresApiKey ? '' : 'Only if your server requires one. '}Encrypted before it is stored, and never shown again.`
  }
  const ending = provider.apiKeyHint === null ? '' : ` that ends in ${provider.apiKeyHint}`
  return `A key${ending} is stored. Leave this empty to keep it.`
}

/** Returns whether the form's address has another origin than the stored one. False for what is no URL. */
function moves({ defaultBaseUrl }: ProviderType, provider: Provider, baseUrl: string): boolean {
  const [from, to] = [provider.baseUrl ?? '', baseUrl].map((url) => URL.parse(url || (defaultBaseUrl ?? ''))?.origin)
  return to !== undefined && from !== to
}
