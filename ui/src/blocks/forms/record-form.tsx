/** A record's form: saves, shows the server's message at the field that it names, and guards unsaved work. */
import { Button, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useHotkeys } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useRef } from 'react'
import { ApiError } from '../../api.ts'
import { useRefusal } from '../../login/roles.ts'
import classes from '../blocks.module.css'
import { ChangedElsewhere } from '../editing/changed-elsewhere.tsx'
import { useEditedRecord } from '../editing/edits.ts'
import { ErrorAlert } from '../messages/error-alert.tsx'
import { plural } from '../words.ts'
import { fieldNamed } from './field-message.ts'
import fields from './forms.module.css'
import { keepTyped } from './keep-typed.ts'
import { UnsavedGuard } from './unsaved-guard.tsx'

interface RecordFormProps<Values extends object, Saved> {
  form: UseFormReturnType<Values>
  save: (values: Values) => Promise<Saved>
  /** Called after saving; to leave the page, use `navigate(to, saved)` of unsaved-guard. */
  onSaved: (record: Saved) => void
  /**
   * The values that the form shows after saving, where a stored secret must not stay on the screen: what was typed
   * meanwhile stays.
   */
  valuesOf?: (record: Saved) => Values
  /** Merges what was typed with the stored values, where more than a field's whole value is kept. */
  keep?: (stored: Values, sent: Values, typed: Values) => Values
  submitLabel?: string
  /** The button is green only while something is typed: until then another one leads on. */
  isQuiet?: boolean
  /** Another way to save, by a second button. */
  second?: { label: string; save: (values: Values) => Promise<Saved> } | undefined
  /** Called with the path of the first invalid field before that gets the focus, since it may be hidden. */
  onWrong?: (path: string) => void
  /** False in a dialog over another form: the router allows one guard, which is that form's. */
  isGuarded?: boolean
  children: ReactNode
}

/** Fields in a column, and a bar with the button, which stays in sight. */
export function RecordForm<Values extends object, Saved>({
  form,
  save,
  onSaved,
  valuesOf,
  keep = keepTyped,
  submitLabel = 'Save',
  isQuiet = false,
  second,
  onWrong,
  isGuarded = true,
  children,
}: RecordFormProps<Values, Saved>) {
  const usesSecond = useRef(false)
  const saving = useMutation({
    mutationFn: (values: Values) => (usesSecond.current && second ? second.save : save)(values),
    onSuccess(record, sent) {
      const stored = valuesOf?.(record) ?? sent
      form.setValues(keep(stored, sent, form.getValues()))
      form.resetDirty(stored)
      onSaved(record)
    },
    onError(error) {
      const named = error instanceof ApiError ? fieldNamed(error.message, form.getValues()) : null
      if (named === null) return
      form.setFieldError(named.field, named.reason)
      onWrong?.(named.field)
      form.getInputNode(named.field)?.focus()
    },
  })
  const refusal = useRefusal('change')
  const edited = useEditedRecord()
  const isChangedElsewhere = edited !== null && saving.error instanceof ApiError && saving.error.status === 412
  const isPlaced = saving.error instanceof ApiError && fieldNamed(saving.error.message, form.values) !== null
  const changes = form.isDirty() ? Object.keys(form.values).filter((name) => form.isDirty(name)).length : 0
  const element = useRef<HTMLFormElement>(null)
  // Of two forms, the one in the dialog.
  const isOnTop = () => !isGuarded || document.querySelector('[role="dialog"]') === null
  useHotkeys([['mod+S', () => isOnTop() && element.current?.requestSubmit()]], [])
  return (
    <form
      ref={element}
      className={fields.form}
      onSubmit={form.onSubmit(
        (values, event) => {
          usesSecond.current = isBySecond(event)
          saving.mutate(values)
        },
        (errors) => {
          const [first = ''] = Object.keys(errors)
          onWrong?.(first)
          form.getInputNode(first)?.focus()
        },
      )}
      noValidate
    >
      {isGuarded && <UnsavedGuard dirty={form.isDirty()} />}
      <Stack gap="lg" className={fields.fields}>
        {children}
        {isChangedElsewhere && (
          <ChangedElsewhere
            error={saving.error}
            onReload={edited.reload}
            onOverwrite={() => {
              edited.edits.letGo()
              saving.mutate(form.getValues())
            }}
          />
        )}
        {!isPlaced && !isChangedElsewhere && <ErrorAlert error={saving.error} />}
      </Stack>
      <div className={classes.saveBar}>
        <Button
          type="submit"
          variant={isQuiet && changes === 0 ? 'default' : 'filled'}
          loading={saving.isPending}
          disabled={refusal !== undefined}
          title={refusal}
        >
          {submitLabel}
        </Button>
        {second && (
          <Button
            type="submit"
            name={SECOND}
            variant="default"
            disabled={refusal !== undefined || saving.isPending}
            title={refusal}
          >
            {second.label}
          </Button>
        )}
        {changes > 0 && (
          <Text fz="sm" c="dimmed">
            {plural(changes, 'change')} not saved yet
          </Text>
        )}
      </div>
    </form>
  )
}

const SECOND = 'second'

/** Reports whether the second button submitted the form. */
const isBySecond = (event: FormEvent<HTMLFormElement> | undefined): boolean => {
  const submitter = event?.nativeEvent instanceof SubmitEvent ? event.nativeEvent.submitter : null
  return submitter instanceof HTMLButtonElement && submitter.name === SECOND
}
