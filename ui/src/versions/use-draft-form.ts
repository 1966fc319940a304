/** The draft as a form that stores itself: a while after the last letter, and before a message is sent. */
import { useForm } from '@mantine/form'
import { useCallbackRef, useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { type AgentValues, fieldsOf, valuesOf } from '../agents/agent-values.ts'
import { allAgents } from '../agents/resource.ts'
import { useEdits } from '../blocks/editing/edits.ts'
import { queryClient } from '../query-client.ts'
import { type Draft, draftOf, holdDraft, saveDraft } from './draft.ts'
import { writeBeforeSending } from './draft-writing.ts'

const PAUSE_MS = 500

const textOf = (values: AgentValues): string => JSON.stringify(fieldsOf(values))
const valuesIn = ({ agent, tools }: Draft): AgentValues => valuesOf(agent, tools)

/** Tracks the form of an agent's draft, whose component has the agent's id as its key. `draft`: as it was read last. */
export function useDraftForm(agentId: string, draft: Draft) {
  const edits = useEdits()
  const [error, setError] = useState<unknown>(null)
  const later = useDebouncedCallback(() => void write().catch(() => {}), PAUSE_MS)
  const form = useForm<AgentValues>({ initialValues: valuesIn(draft), onValuesChange: () => later() })
  /** The text of the fields as they are stored. */
  const stored = useRef<string | null>(null)
  const writing = useRef<Promise<void>>(Promise.resolve())

  const show = useCallbackRef((read: Draft) => {
    const values = valuesIn(read)
    stored.current = textOf(values)
    form.setValues(values)
    form.resetDirty(values)
    holdDraft(agentId, edits)
    setError(null)
  })
  const store = useCallbackRef(async () => {
    const values = form.getValues()
    const text = textOf(values)
    if (text === stored.current) return
    try {
      await saveDraft(agentId, fieldsOf(values), edits)
    } catch (refusal) {
      setError(refusal)
      throw refusal
    }
    stored.current = text
    setError(null)
    form.resetDirty(values)
    // A message that is sent next asks for the draft, and the next change builds on what is stored now.
    const [read] = await Promise.all([
      queryClient.fetchQuery({ ...draftOf(agentId), staleTime: 0 }),
      queryClient.fetchQuery({ ...allAgents, staleTime: 0 }),
    ])
    if (textOf(valuesIn(read)) === text) holdDraft(agentId, edits)
  })
  /** Stores what is typed, after the write before. */
  const write = useCallbackRef((): Promise<void> => {
    writing.current = writing.current.catch(() => {}).then(store)
    return writing.current
  })

  useEffect(() => {
    const read = textOf(valuesIn(draft))
    if (read === stored.current) holdDraft(agentId, edits)
    // What is typed stays: when it is stored, the server says that somebody else has changed the draft.
    else if (stored.current === null || textOf(form.getValues()) === stored.current) show(draft)
  }, [draft, agentId, edits, form.getValues, show])
  useEffect(() => {
    const end = writeBeforeSending(agentId, write)
    return () => {
      end()
      void write().catch(() => {})
    }
  }, [agentId, write])

  return {
    form,
    edits,
    error,
    /** Shows the stored draft instead of what is typed. */
    reload: () => show(draft),
    /** Stores what is typed over whatever is stored. */
    overwrite() {
      edits.letGo()
      void write().catch(() => {})
    },
  }
}
