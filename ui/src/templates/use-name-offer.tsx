/** The names that fit what is typed behind `{{`, as a list below the field. */
import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { type TemplateName, type TemplateRules, typedName } from './template-names.ts'
import classes from './templates.module.css'

interface Offer {
  names: readonly TemplateName[]
  chosen: number
}

export function useNameOffer(
  field: RefObject<HTMLTextAreaElement | null>,
  onText: (text: string) => void,
  rules: TemplateRules,
) {
  const id = useId()
  const [offer, setOffer] = useState<Offer | null>(null)
  const close = () => setOffer(null)

  /** Looks at what stands before the caret. */
  function look(): void {
    const input = field.current
    const typed =
      input && input.selectionStart === input.selectionEnd
        ? typedName(input.value.slice(0, input.selectionStart))
        : null
    const names = typed === null ? [] : rules.names.filter(({ name }) => name.startsWith(typed) && name !== typed)
    setOffer(names.length === 0 ? null : { names, chosen: 0 })
  }

  /** Inserts a name. An incomplete name gets no closing braces yet. */
  function take({ name }: TemplateName): void {
    const input = field.current
    if (input === null) return
    const before = input.value.slice(0, input.selectionStart)
    const after = input.value.slice(input.selectionStart)
    const begun = before.slice(0, before.length - (typedName(before) ?? '').length)
    const isOpen = name.endsWith('.')
    const closing = isOpen || /^\s*\}\}/.test(after) ? '' : '}}'
    const caret = begun.length + name.length + closing.length
    // At once: what is typed next stands behind it.
    flushSync(() => onText(`${begun}${name}${closing}${after}`))
    close()
    input.focus()
    input.setSelectionRange(caret, caret)
  }

  /** Returns whether the key was the list's. */
  function onKey(event: KeyboardEvent): boolean {
    if (offer === null || event.nativeEvent.isComposing) return false
    const { names, chosen } = offer
    const count = names.length
    if (event.key === 'ArrowDown') setOffer({ names, chosen: (chosen + 1) % count })
    else if (event.key === 'ArrowUp') setOffer({ names, chosen: (chosen + count - 1) % count })
    else if (event.key === 'Escape') close()
    else if (event.key === 'Enter' || event.key === 'Tab') {
      const name = names[chosen]
      if (name) take(name)
    } else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const optionId = (index: number) => `${id}-${index}`
  return {
    look,
    close,
    onKey,
    aria: offer === null ? {} : { 'aria-controls': id, 'aria-activedescendant': optionId(offer.chosen) },
    list: offer !== null && (
      <div id={id} role="listbox" aria-label="Names to fill in" className={classes.offer}>
        {offer.names.map((one, index) => (
          // The keyboard's part is the field's: it keeps the focus.
          // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant names it
          // biome-ignore lint/a11y/useKeyWithClickEvents: see onKey
          <div
            key={one.name}
            id={optionId(index)}
            role="option"
            aria-selected={index === offer.chosen}
            className={classes.option}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(one)}
          >
            <code>{one.name}</code> <span>{one.hint}</span>
          </div>
        ))}
      </div>
    ),
  }
}
