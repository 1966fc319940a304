import { Text } from '@mantine/core'
import type { sumOf } from './buckets.ts'
import { Tokens } from './tokens.tsx'
import classes from './usage.module.css'

interface TotalsProps {
  sum: ReturnType<typeof sumOf>
  /** The costs, as shown. Null without prices. */
  cost: string | null
  /** The savings of caches, as shown. Null without prices. */
  saved: string | null
}

/** The numbers of the time looked at; those that only some providers report where there are any. */
export function Totals({ sum, cost, saved }: TotalsProps) {
  const { replies, promptTokens, completionTokens, totalTokens, cachedTokens, estimated } = sum
  const { cacheWriteTokens, reasoningTokens } = sum
  return (
    <dl className={classes.totals} aria-label="Totals">
      {cost !== null && <Total label="Cost" text={cost} />}
      <Total label="Tokens" count={totalTokens} estimated={estimated} />
      <Total label="Input tokens" tone="prompt" count={promptTokens} estimated={estimated} />
      {cachedTokens > 0 && <Total label="Cached" count={cachedTokens} estimated={false} />}
      {cacheWriteTokens > 0 && <Total label="Written to caches" count={cacheWriteTokens} estimated={false} />}
      <Total label="Output tokens" tone="completion" count={completionTokens} estimated={estimated} />
      {reasoningTokens > 0 && <Total label="Reasoning" count={reasoningTokens} estimated={false} />}
      {saved !== null && <Total label="Saved by caches" text={saved} />}
      <Total label="Replies" count={replies} estimated={false} />
    </dl>
  )
}

interface TotalProps {
  label: string
  tone?: 'prompt' | 'completion'
  count?: number
  estimated?: boolean
  /** Instead of a number of tokens. */
  text?: string
}

function Total({ label, tone, count = 0, estimated = false, text }: TotalProps) {
  return (
    <div>
      <Text component="dt" fz="sm" c="dimmed">
        {tone && <i className={classes.dot} data-tone={tone} aria-hidden />}
        {label}
      </Text>
      <dd>{text ?? <Tokens short count={count} estimated={estimated} />}</dd>
    </div>
  )
}
