import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { seenWords } from '../agents/tool-names.ts'
import { FormSection } from '../blocks/forms/form-section.tsx'
import { keepTypedRows, movesSecrets } from '../blocks/forms/header-rows.ts'
import { HeadersField } from '../blocks/forms/headers-field.tsx'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import { TemplateInput } from '../templates/template-input.tsx'
import { argumentNames, type TemplateRules, toolRules } from '../templates/template-names.ts'
import classes from './http-tools.module.css'
import type { HttpTool, HttpToolFields } from './resource.ts'
import { SchemaField } from './schema-field.tsx'
import { describedIn, fieldsOf, type ToolValues, valuesOf } from './tool-values.ts'

const methods: HttpTool['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface HttpToolFormProps {
  /** Null while it is being created. */
  tool: HttpTool | null
  save: (fields: HttpToolFields) => Promise<HttpTool>
  onSaved: (tool: HttpTool) => void
}

export function HttpToolForm({ tool, save, onSaved }: HttpToolFormProps) {
  const form = useForm<ToolValues>({ initialValues: valuesOf(tool) })
  const { url, headers, body, inputSchema } = form.values
  const rules = toolRules(describedIn(inputSchema))
  return (
    <RecordForm
      form={form}
      save={async (values) => save(await fieldsOf(values))}
      onSaved={onSaved}
      valuesOf={valuesOf}
      keep={keepTypedRows}
      submitLabel={tool ? 'Save' : 'Create tool'}
    >
      <TextInput
        label="Name"
        withAsterisk
        description={seenWords(form.values.name)}
        placeholder="get_weather"
        maw={420}
        {...form.getInputProps('name')}
      />
      <Textarea
        label="Description"
        description="Tells the model when to use the tool, and what it returns."
        placeholder="Returns the weather of a city for the next days."
        autosize
        minRows={2}
        {...form.getInputProps('description')}
      />
      <FormSection
        title="Request"
        description={
          '{{argument}} is replaced by the model’s value, {{session.user}} by the user of the session: in the path and query, in header values and in the body. Type {{ to see the names. The model never chooses the server.'
        }
      >
        <Request form={form} rules={rules} />
        <HeadersField
          rows={headers}
          onChange={(rows) => form.setFieldValue('headers', rows)}
          error={form.errors.headers}
          moves={movesSecrets(tool, url, headers)}
          rules={rules}
        />
      </FormSection>
      <FormSection title="Arguments" description="What the model must provide. Checked before the call is made.">
        <SchemaField
          draft={inputSchema}
          onChange={(draft) => form.setFieldValue('inputSchema', draft)}
          places={argumentNames(url, ...headers.map(({ value }) => value), body)}
          error={form.errors.inputSchema}
        />
      </FormSection>
    </RecordForm>
  )
}

function Request({ form, rules }: { form: UseFormReturnType<ToolValues>; rules: TemplateRules }) {
  const { method, body } = form.values
  const carriesBody = method !== 'GET' && method !== 'DELETE'
  return (
    <>
      <div className={classes.request}>
        <NativeSelect label="Method" data={methods} {...form.getInputProps('method')} />
        <TemplateInput
          label="URL"
          withAsterisk
          oneLine
          placeholder="https://api.example.com/weather/{{city}}?days={{days}}"
          rules={rules}
          {...form.getInputProps('url')}
          onText={(text) => form.setFieldValue('url', text)}
        />
      </div>
      {(carriesBody || body !== '') && (
        <TemplateInput
          label="Body"
          description="Leave empty to send the arguments that have no place in a template as a JSON object."
          placeholder={'{"city": "{{city}}", "days": {{days}}}'}
          rules={rules}
          {...form.getInputProps('body')}
          onText={(text) => form.setFieldValue('body', text)}
        />
      )}
    </>
  )
}
