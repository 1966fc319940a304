import { Textarea, type TextareaProps } from '@mantine/core'
import classes from './http-tools.module.css'
import { type Part, partsOf } from './template.ts'

interface TemplateInputProps extends TextareaProps {
  /** Line breaks cannot be typed: Enter submits the form. */
  oneLine?: boolean
}

/** Text whose placeholders are marked. The marks are behind the field, which grows with its text. */
export function TemplateInput({ value = '', oneLine = false, ...props }: TemplateInputProps) {
  return (
    <Textarea
      {...props}
      value={value}
      autosize
      minRows={oneLine ? 1 : 4}
      spellCheck={false}
      classNames={{ input: classes.templateInput ?? '' }}
      onKeyDown={(event) => {
        if (!oneLine || event.key !== 'Enter' || event.nativeEvent.isComposing) return
        event.preventDefault()
        event.currentTarget.form?.requestSubmit()
      }}
      inputContainer={(input) => (
        <div className={classes.template}>
          <div className={classes.marks} aria-hidden>
            {inOrder(partsOf(String(value))).map(({ text, isPlace, at }) =>
              isPlace ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>,
            )}
          </div>
          {input}
        </div>
      )}
    />
  )
}

const inOrder = (parts: Part[]) => parts.map((part, at) => ({ ...part, at }))
