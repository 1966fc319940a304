import { Text, Textarea, type TextareaProps } from '@mantine/core'
import { useRef } from 'react'
import { partsOf, type TemplateRules } from './template-names.ts'
import classes from './templates.module.css'
import { useNameOffer } from './use-name-offer.tsx'

interface TemplateInputProps extends TextareaProps {
  value?: string
  /** Called with the new text. */
  onText: (text: string) => void
  rules: TemplateRules
  /** Line breaks cannot be typed: Enter submits the form. */
  oneLine?: boolean
  /** Uses the page's own font instead of a monospaced one, for texts that people read. */
  isProse?: boolean
}

/**
 * Text whose placeholders are marked: those that stand for nothing are underlined, with the reason below. Names are offered
 * as one types `{{`. The marks are behind the field.
 */
export function TemplateInput({
  value = '',
  onText,
  rules,
  oneLine = false,
  isProse = false,
  ...props
}: TemplateInputProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const marks = useRef<HTMLDivElement>(null)
  const offer = useNameOffer(field, onText, rules)
  const problem = rules.problem(value)
  return (
    <div>
      <Textarea
        minRows={oneLine ? 1 : 4}
        {...props}
        ref={field}
        value={value}
        autosize
        spellCheck={isProse}
        classNames={{ input: classes.input ?? '' }}
        aria-autocomplete="list"
        {...offer.aria}
        onChange={({ currentTarget }) =>
          onText(oneLine ? currentTarget.value.replaceAll('\n', ' ') : currentTarget.value)
        }
        onSelect={offer.look}
        onBlur={(event) => {
          offer.close()
          props.onBlur?.(event)
        }}
        onScroll={({ currentTarget }) => marks.current?.scrollTo(0, currentTarget.scrollTop)}
        onKeyDown={(event) => {
          if (offer.onKey(event)) return
          if (!oneLine || event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault()
          event.currentTarget.form?.requestSubmit()
        }}
        inputContainer={(input) => (
          <div className={classes.template} data-prose={isProse || undefined}>
            <div className={classes.marks} ref={marks} aria-hidden>
              {partsOf(value, rules).map(({ text, isKnown, at }) =>
                isKnown === null ? (
                  <span key={at}>{text}</span>
                ) : (
                  <mark key={at} data-unknown={!isKnown || undefined}>
                    {text}
                  </mark>
                ),
              )}
            </div>
            {input}
            {offer.list}
          </div>
        )}
      />
      {problem !== null && (
        <Text fz="xs" mt="xs" className={classes.problem ?? ''} role="status">
          {problem}
        </Text>
      )}
    </div>
  )
}
