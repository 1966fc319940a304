import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { promptWarning } from '../../../src/templates/prompt-template.ts'
import { RecordForm } from '../blocks/forms/record-form.tsx'
import { plural } from '../blocks/words.ts'
import { TemplateInput } from '../templates/template-input.tsx'
import { promptRules } from '../templates/template-names.ts'
import { PromptPreview } from './preview/prompt-preview.tsx'
import type { Prompt, PromptFields } from './resource.ts'
import { textSize } from './text-size.ts'

interface PromptFormProps {
  /** Null while it is being created. */
  prompt: Prompt | null
  save: (fields: PromptFields) => Promise<Prompt>
  onSaved: (prompt: Prompt) => void
  /** The same as in `RecordForm`. */
  isGuarded?: boolean
}

export function PromptForm({ prompt, save, onSaved, isGuarded = true }: PromptFormProps) {
  const form = useForm<PromptFields>({
    initialValues: { name: prompt?.name ?? '', content: prompt?.content ?? '' },
  })
  const warning = promptWarning(form.values.content)
  const { characters, tokens } = textSize(form.values.content)
  return (
    <RecordForm
      form={form}
      save={save}
      onSaved={onSaved}
      submitLabel={prompt ? 'Save' : 'Create prompt'}
      isGuarded={isGuarded}
    >
      <TextInput
        label="Name"
        withAsterisk
        description="For your own reference: the model never sees it."
        placeholder="Support, friendly"
        maw={420}
        data-autofocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <div>
        <TemplateInput
          isProse
          rules={promptRules}
          label="Prompt"
          description="Sent to the model before the conversation. Type {{ to fill in the user, metadata or the day. Changes apply to replies that start after you save."
          placeholder="You are the assistant of…"
          minRows={12}
          maxRows={28}
          key={form.key('content')}
          {...form.getInputProps('content')}
          onText={(text) => form.setFieldValue('content', text)}
        />
        <Text fz="xs" c="dimmed" mt="xs" ta="right" data-testid="size">
          {plural(characters, 'character')} · about {plural(tokens, 'token')}
        </Text>
      </div>
      {warning !== null && (
        <Text fz="sm" role="status" data-testid="prompt-warning">
          {warning}
        </Text>
      )}
      <PromptPreview content={form.values.content} />
    </RecordForm>
  )
}
