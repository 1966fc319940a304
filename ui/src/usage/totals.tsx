import { Text } from '@mantine/core'
import type { sumOf } from './buckets.ts'
import { Tokens } from './tokens.tsx'
import classes from './usage.module.css'

/** The numbers of the time looked at; what providers read from their caches where they report it. */
export function Totals({ sum }: { sum: ReturnType<typeof sumOf> }) {
  const { replies, promptTokens, completionTokens, totalTokens, cachedTokens, estimated } = sum
  return (
    <dl className={classes.totals} aria-label="Totals">
      <Total label="Tokens" count={totalTokens} estimated={estimated} />
      <Total label="Read by models" tone="prompt" count={promptTokens} estimated={estimated} />
      {cachedTokens > 0 && <Total label="Of them from caches" count={cachedTokens} estimated={false} />}
      <Total label="Written by models" tone="completion" count={completionTokens} estimated={estimated} />
      <Total label="Replies" count={replies} estimated={false} />
    </dl>
  )
}

interface TotalProps {
  label: string
  tone?: 'prompt' | 'completion'
  count: number
  estimated: boolean
}

function Total({ label, tone, count, estimated }: TotalProps) {
  return (
    <div>
      <Text component="dt" fz="sm" c="dimmed">
        {tone && <i className={classes.dot} data-tone={tone} aria-hidden />}
        {label}
      </Text>
      <dd>
        <Tokens short count={count} estimated={estimated} />
      </dd>
    </div>
  )
}
