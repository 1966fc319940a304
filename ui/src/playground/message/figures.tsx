/** The figures of a reply, in a line: tokens, first token, duration, calls, overrides. */

import { Fragment } from 'react'
import { plural, wholeNumber } from '../../blocks/words.ts'
import { duration } from '../../chart/words.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import classes from './figures.module.css'

/** The trace has another end: it counts what follows the text, too. */
const clockTitle = 'The duration is that until the end of its text; the trace lasts until the reply is stored.'

export function Figures({ message }: { message: ShownMessage }) {
  const words = figuresOf(message)
  if (words.length === 0) return null
  return (
    <span className={classes.figures} title={clockTitle} data-testid="figures">
      {words.map((fact, index) => (
        <Fragment key={fact}>
          {index > 0 && ' · '}
          <span className={classes.fact}>{fact}</span>
        </Fragment>
      ))}
    </span>
  )
}

/** Returns the figures. They are empty while the reply runs, and where none are known. */
function figuresOf({
  model,
  usage,
  firstTokenMs,
  durationMs,
  attempts,
  overrides,
  agentVersion,
}: ShownMessage): string[] {
  if (durationMs == null) return []
  const about = usage?.estimated ? '≈ ' : ''
  return [
    model ?? '',
    agentVersion == null ? '' : agentVersion === 'draft' ? 'draft' : `version ${agentVersion}`,
    usage ? `${about}${wholeNumber(usage.promptTokens)} → ${plural(usage.completionTokens, 'token')}` : '',
    firstTokenMs == null ? '' : `first token ${duration(firstTokenMs)}`,
    `took ${duration(durationMs)}`,
    attempts != null && attempts > 1 ? `${attempts} model calls` : '',
    ...Object.entries(overrides ?? {}).flatMap(([name, value]) => (value === null ? [] : [overrideWords(name, value)])),
  ].filter((one) => one !== '')
}

/** Returns the words of a field's name: `systemPrompt` → `system prompt`. */
const words = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function overrideWords(name: string, value: unknown): string {
  const isText = name === 'systemPrompt' || name.endsWith('Id') || typeof value === 'object'
  return isText || String(value).length > 24 ? `${words(name).replace(/ id$/, '')} changed` : `${words(name)} ${value}`
}
