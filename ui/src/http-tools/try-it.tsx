/** Runs the stored tool once, with arguments from a form made of its schema. */
import { Badge, Button, Text, TextInput } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CodeBlock } from '../blocks/code-block.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Panel } from '../blocks/panel.tsx'
import { indented, wholeNumber } from '../blocks/words.ts'
import { useRefusal } from '../login/roles.ts'
import { argumentNames, sessionNames, sessionValues } from '../templates/template-names.ts'
import { ArgumentFields } from './argument-fields.tsx'
import { argumentsOf, type Typed } from './arguments.ts'
import classes from './http-tools.module.css'
import { type HttpTool, tryHttpTool } from './resource.ts'
import { type ArgumentRow, argumentsIn, newRow } from './schema-draft.ts'

export function TryIt({ tool }: { tool: HttpTool }) {
  const [typed, setTyped] = useState<Typed>({ values: {}, json: '{}' })
  const rows = rowsOf(tool)
  const refusal = useRefusal('change')
  const names = sessionNames(...textsOf(tool))
  const [session, setSession] = useState<Record<string, string>>({})
  const run = useMutation({
    mutationFn: async () =>
      tryHttpTool(tool.id, { arguments: argumentsOf(rows, typed), ...(names.length > 0 && sessionValues(session)) }),
  })
  return (
    <Panel title="Try it" description="Makes a real call, using the tool as last saved.">
      <form
        noValidate
        className={classes.outcome}
        onSubmit={(event) => {
          event.preventDefault()
          run.mutate()
        }}
      >
        <ArgumentFields rows={rows} typed={typed} onChange={setTyped} />
        {names.map((name) => (
          <TextInput
            key={name}
            label={name}
            description="A value of the session. Empty: the session has none."
            value={session[name] ?? ''}
            onChange={({ currentTarget: { value } }) => setSession({ ...session, [name]: value })}
          />
        ))}
        <Button
          type="submit"
          variant="light"
          loading={run.isPending}
          disabled={refusal !== undefined}
          title={refusal}
          leftSection={<IconPlayerPlay size={15} aria-hidden />}
        >
          Run
        </Button>
      </form>
      <div className={classes.outcome} role="status">
        <ErrorAlert error={run.error} />
        {run.data && <Outcome {...run.data} />}
      </div>
    </Panel>
  )
}

/** Returns the tool's texts that may hold names in braces. */
const textsOf = ({ url, headers, body }: HttpTool): string[] => [url, ...Object.values(headers), body ?? '']

/**
 * Returns the schema's arguments, then those that only a template names. Null when the schema cannot be shown as a
 * form.
 */
function rowsOf(tool: HttpTool): ArgumentRow[] | null {
  const described = argumentsIn(tool.inputSchema)
  if (described === null) return null
  const known = new Set(described.map(({ name }) => name))
  const places = argumentNames(...textsOf(tool)).filter((name) => name !== '' && !known.has(name))
  const rows = [...described, ...places.map((name) => newRow(name))]
  return rows.length > 0 ? rows : null
}

interface OutcomeProps {
  ok: boolean
  status: number | null
  body: string | null
  latencyMs: number
  message: string
}

function Outcome({ ok, status, body, latencyMs, message }: OutcomeProps) {
  // The server refuses wrong arguments before it calls anything.
  const isSent = ok || status !== null || !message.startsWith('arguments')
  return (
    <>
      <div className={classes.tags}>
        <Badge color={ok ? 'accent' : 'red'} variant="light" tt="none">
          {status !== null ? `Status ${status}` : isSent ? 'No answer' : 'Not sent'}
        </Badge>
        {isSent && (
          <Text fz="sm" c="dimmed">
            {wholeNumber(latencyMs)} ms
          </Text>
        )}
      </div>
      {!ok && <Text fz="sm">{message}</Text>}
      {body !== null && <CodeBlock code={indented(body)} caption="Answer" />}
    </>
  )
}
