import { NumberInput, type NumberInputProps } from '@mantine/core'
import { type LimitUse, limitFields } from './limit-values.ts'

interface LimitsFieldsProps {
  /** The limits' path in the form. */
  path: string
  /** The form's own. */
  getInputProps: (path: string) => NumberInputProps
  /** Shown beside each limit. Undefined when it is not known, or nothing is counted yet. */
  use?: LimitUse | undefined
}

/** The four limits, each with what was used of it so far. */
export function LimitsFields({ path, getInputProps, use }: LimitsFieldsProps) {
  return (
    <>
      {limitFields.map(({ name, label, description, step, used }) => (
        <NumberInput
          key={name}
          label={label}
          description={use ? `${description} Now: ${used(use)}.` : description}
          placeholder="No limit"
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          step={step}
          clampBehavior="none"
          hideControls
          {...getInputProps(`${path}.${name}`)}
        />
      ))}
    </>
  )
}
