import { Input, SegmentedControl, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type HeaderRow, headersOf, keepTypedRows, movesSecrets, rowsOf } from '../blocks/forms/header-rows.ts'
import { HeadersField } from '../blocks/forms/headers-field.tsx'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import type { McpServer, McpServerFields } from './resource.ts'

interface Values {
  name: string
  transport: McpServer['transport']
  url: string
  headers: HeaderRow[]
  auth: McpServer['auth']
  oauthClientId: string
  oauthClientSecret: string
}

const valuesOf = (server: McpServer | null): Values => ({
  name: server?.name ?? '',
  transport: server?.transport ?? 'streamable_http',
  url: server?.url ?? '',
  headers: rowsOf(server?.headers ?? {}),
  auth: server?.auth ?? 'none',
  oauthClientId: server?.oauthClientId ?? '',
  oauthClientSecret: server?.oauthClientSecret ?? '',
})

/** Returns the client as it is sent: an empty field clears it, as does a server without sign-in. */
function clientOf({ auth, oauthClientId, oauthClientSecret }: Omit<Values, 'headers'>) {
  const given = (text: string) => (auth === 'none' || text.trim() === '' ? null : text.trim())
  return { oauthClientId: given(oauthClientId), oauthClientSecret: given(oauthClientSecret) }
}

interface McpServerFormProps {
  /** Null while it is being created. */
  server: McpServer | null
  save: (fields: McpServerFields) => Promise<McpServer>
  onSaved: (server: McpServer) => void
}

export function McpServerForm({ server, save, onSaved }: McpServerFormProps) {
  const form = useForm<Values>({ initialValues: valuesOf(server) })
  const { transport, url, headers, auth } = form.values
  return (
    <RecordForm
      form={form}
      save={({ headers: rows, ...fields }) =>
        save({ ...fields, ...clientOf(fields), url: fields.url.trim(), headers: headersOf(rows) })
      }
      onSaved={onSaved}
      valuesOf={valuesOf}
      keep={keepTypedRows}
      submitLabel={server ? 'Save' : 'Connect'}
    >
      <TextInput
        label="Name"
        withAsterisk
        description="The model sees its tools as name__tool."
        placeholder="github"
        maw={420}
        {...form.getInputProps('name')}
      />
      <Input.Wrapper
        label="Transport"
        labelElement="div"
        description="Streamable HTTP is the current standard; older servers use SSE."
      >
        <div>
          <SegmentedControl
            mt={8}
            aria-label="Transport"
            value={transport}
            onChange={(value) => form.setFieldValue('transport', value)}
            data={[
              { value: 'streamable_http', label: 'Streamable HTTP' },
              { value: 'sse', label: 'SSE' },
            ]}
          />
        </div>
      </Input.Wrapper>
      <TextInput
        label="URL"
        withAsterisk
        placeholder="https://mcp.example.com/mcp"
        spellCheck={false}
        {...form.getInputProps('url')}
      />
      <Input.Wrapper
        label="Sign-in"
        labelElement="div"
        description="Each user of an agent may sign in with an account of their own."
        error={form.errors.auth}
      >
        <div>
          <SegmentedControl
            mt={8}
            aria-label="Sign-in"
            value={auth}
            onChange={(value) => form.setFieldValue('auth', value)}
            data={[
              { value: 'none', label: 'None' },
              { value: 'user', label: 'Each user' },
            ]}
          />
        </div>
      </Input.Wrapper>
      {auth === 'user' && (
        <>
          <TextInput
            label="OAuth client id"
            description="Only where the authorization server registers no clients by itself."
            spellCheck={false}
            maw={420}
            {...form.getInputProps('oauthClientId')}
          />
          <TextInput
            label="OAuth client secret"
            description="*** stands for the stored one."
            spellCheck={false}
            autoComplete="off"
            maw={420}
            {...form.getInputProps('oauthClientSecret')}
          />
        </>
      )}
      <HeadersField
        rows={headers}
        onChange={(rows) => form.setFieldValue('headers', rows)}
        error={form.errors.headers}
        moves={movesSecrets(server, url, headers)}
      />
    </RecordForm>
  )
}
