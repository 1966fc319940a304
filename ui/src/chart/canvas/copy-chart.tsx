import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { wordsOf } from '../../api.ts'
import { copyText } from '../../blocks/copy.tsx'
import type { Layout } from '../layout/layout.ts'
import { mermaidChart } from '../queries.ts'
import { chartSvg } from './chart-svg.ts'

/** The chart for documents: as a picture, and as Mermaid's text. */
export function CopyChart({ layout }: { layout: Layout }) {
  const copy = (name: string, text: () => string | Promise<string>) => async () => {
    try {
      await copyText(await text())
      notifications.show({ message: `Copied as ${name}.` })
    } catch (error) {
      notifications.show({ color: 'red', message: wordsOf(error) })
    }
  }
  const buttons = [
    ['SVG', copy('SVG', () => chartSvg(layout))],
    ['Mermaid', copy('Mermaid', mermaidChart)],
  ] as const
  return buttons.map(([name, act]) => (
    <Button key={name} variant="default" size="compact-xs" onClick={() => void act()}>
      Copy as {name}
    </Button>
  ))
}
