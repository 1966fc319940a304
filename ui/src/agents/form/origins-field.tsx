/** The origins whose pages may call the agent, one a line. */
import { Textarea, type TextareaProps } from '@mantine/core'
import { originsOf } from '../agent-values.ts'

export function OriginsField({ value, error, ...input }: TextareaProps & { value?: string }) {
  return (
    <Textarea
      label="Allowed origins"
      description="One per line, as browsers write them: https://www.example.com, http://localhost:5173. Without a path, without wildcards."
      placeholder="https://www.example.com"
      autosize
      minRows={2}
      maxRows={20}
      maw={560}
      value={value}
      error={typeof error === 'string' ? atItsLine(error, originsOf(value ?? '')) : error}
      {...input}
    />
  )
}

/** Returns the error with the line of its origin: the server names an origin by its index, `0: must be …`. */
const atItsLine = (error: string, origins: readonly string[]): string =>
  error.replace(/^(\d+): /, (whole, place) =>
    origins[Number(place)] === undefined ? whole : `${origins[Number(place)]}: `,
  )
