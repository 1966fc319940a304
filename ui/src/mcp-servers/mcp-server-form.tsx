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
}

const valuesOf = (server: McpServer | null): Values => ({
  name: server?.name ?? '',
  transport: server?.transport ?? 'streamable_http',
  url: server?.url ?? '',
  headers: rowsOf(server?.headers ?? {}),
})

interface McpServerFormProps {
  /** Null while it is being created. */
  server: McpServer | null
  save: (fields: McpServerFields) => Promise<McpServer>
  onSaved: (server: McpServer) => void
}

export function McpServerForm({ server, save, onSaved }: McpServerFormProps) {
  const form = useForm<Values>({ initialValues: valuesOf(server) })
  const { transport, url, headers } = form.values
  return (
    <RecordForm
      form={form}
      save={({ headers: rows, ...fields }) => save({ ...fields, url: fields.url.trim(), headers: headersOf(rows) })}
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
      <HeadersField
        rows={headers}
        onChange={(rows) => form.setFieldValue('headers', rows)}
        error={form.errors.headers}
        moves={movesSecrets(server, url, headers)}
      />
    </RecordForm>
  )
}
