/** A question with its old and its new reply, and the verdict. */
import { Anchor, Button, Group, Text } from '@mantine/core'
import { Link } from 'react-router'
import { plural, wholeNumber } from '../blocks/words.ts'
import { duration } from '../chart/words.ts'
import { Markdown } from '../playground/markdown/markdown.tsx'
import classes from './replays.module.css'
import { costWords, statusWords, versionWords } from './sums.ts'
import type { ReplayCase, Verdict } from './types.ts'

const verdicts = [
  { verdict: 'better', label: '1 Better', color: 'accent' },
  { verdict: 'same', label: '2 Same', color: 'gray' },
  { verdict: 'worse', label: '3 Worse', color: 'red.8' },
] as const

interface CaseProps {
  one: ReplayCase
  /** Whether the keys are about it. */
  isActive: boolean
  /** Null takes the verdict back. */
  onVerdict: (verdict: Verdict | null) => void
}

export const Case = ({ one, isActive, onVerdict }: CaseProps) => (
  <li className={classes.case} aria-current={isActive || undefined}>
    <Group justify="space-between" gap="xs" align="flex-start">
      <Text fw={500} className={classes.question ?? ''}>
        {one.question}
      </Text>
      <Group gap={4} role="group" aria-label="Verdict">
        {verdicts.map(({ verdict, label, color }) => (
          <Button
            key={verdict}
            size="compact-xs"
            color={color}
            variant={one.verdict === verdict ? 'filled' : 'default'}
            aria-pressed={one.verdict === verdict}
            onClick={() => onVerdict(one.verdict === verdict ? null : verdict)}
          >
            {label}
          </Button>
        ))}
      </Group>
    </Group>
    <Text fz="xs" c="dimmed">
      {statusWords(one)} ·{' '}
      <Anchor component={Link} to={`/replies/${one.messageId}`} fz="xs">
        The stored reply
      </Anchor>
    </Text>
    <div className={classes.sides}>
      <Side name="Old" reply={one.old} />
      <Side name="New" reply={one.new} />
    </div>
  </li>
)

function Side({ name, reply }: { name: string; reply: ReplayCase['old'] }) {
  if (reply === null) return <div />
  const { version, model, content, toolCalls, usage, cost, durationMs } = reply
  const facts = [
    versionWords(version),
    model ?? '',
    usage ? `${wholeNumber(usage.promptTokens)} → ${plural(usage.completionTokens, 'token')}` : '',
    cost === null ? '' : costWords(cost),
    durationMs === null ? '' : duration(durationMs),
  ]
  return (
    <div>
      <Text fz="xs" c="dimmed">
        {name} · {facts.filter((fact) => fact !== '').join(' · ')}
      </Text>
      {toolCalls.map((call, index) => (
        <code key={index} className={classes.call}>
          {call.name} {call.arguments}
        </code>
      ))}
      <div className={classes.text} dir="auto">
        <Markdown text={content} />
      </div>
    </div>
  )
}
