import { NumberInput, Select, Switch } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { type AgentValues, reasoningEfforts } from '../agent-values.ts'

const fields = [
  {
    path: 'generationConfig.temperature',
    label: 'Temperature',
    words:
      'How randomly words are picked, 0 to 2. Near 0: the likeliest words, nearly the same each time. Above 1: erratic.',
    step: 0.1,
  },
  {
    path: 'generationConfig.topP',
    label: 'Top P',
    words:
      'Only the likeliest words whose probabilities add up to this, 0 to 1. Change this or the temperature, not both.',
    step: 0.05,
  },
  {
    path: 'generationConfig.topK',
    label: 'Top K',
    words: 'Only this many of the likeliest words, from 1. Not sent to vendors whose API lacks the setting.',
    step: 1,
  },
  {
    path: 'generationConfig.maxToolCalls',
    label: 'Maximum tool calls',
    words: 'Per reply, 0 to 100. After that the model must answer with what it has. 0: no tools are offered.',
    step: 1,
  },
  {
    path: 'generationConfig.maxOutputTokens',
    label: 'Maximum output tokens',
    words: 'Of one answer of the model, reasoning included, from 1. A request’s own max_tokens wins.',
    step: 1,
  },
  {
    path: 'historyMaxTokens',
    label: 'Context limit (tokens)',
    words:
      'Most tokens before the newest message, from 1,000: prompt, tools and files count. Leave empty for the server’s setting.',
    step: 1000,
  },
] as const

/** The settings of generation. The server checks the ranges. */
export function GenerationFields({ form }: { form: UseFormReturnType<AgentValues> }) {
  return (
    <>
      {fields.map(({ path, label, words, step }) => (
        <NumberInput
          key={path}
          label={label}
          description={words}
          placeholder={path.endsWith('maxToolCalls') ? '10' : 'Provider default'}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          step={step}
          clampBehavior="none"
          decimalScale={3}
          hideControls
          {...form.getInputProps(path)}
        />
      ))}
      <Select
        label="Reasoning effort"
        description="How long the model may think. A request’s own reasoning_effort wins."
        placeholder="Provider default"
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        data={reasoningEfforts}
        clearable
        clearButtonProps={{ 'aria-label': 'Use the provider’s default' }}
        {...form.getInputProps('generationConfig.reasoningEffort')}
        value={form.values.generationConfig.reasoningEffort || null}
        onChange={(effort) => form.setFieldValue('generationConfig.reasoningEffort', effort ?? '')}
      />
      <Switch
        label="Summarise long conversations"
        description="Near the history budget this model summarises the older messages, and is sent that instead. Off: the oldest are left out."
        checked={form.values.compaction === 'auto'}
        onChange={({ currentTarget }) => form.setFieldValue('compaction', currentTarget.checked ? 'auto' : 'none')}
      />
    </>
  )
}
