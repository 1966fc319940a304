/** The request at hand as code to take away. */
import { Modal, Tabs, Text } from '@mantine/core'
import { Code } from './markdown/code.tsx'
import { type SnippetInput, snippets } from './snippets.ts'

interface CodeDialogProps extends SnippetInput {
  /** Overrides are the playground's alone. */
  overridden: boolean
  onClose: () => void
}

const languages: Record<string, string> = { curl: 'bash', JavaScript: 'javascript', Python: 'python' }

export default function CodeDialog({ overridden, onClose, ...input }: CodeDialogProps) {
  const all = snippets(input)
  return (
    <Modal opened onClose={onClose} title="Call it from your code" size="xl">
      <Text fz="sm" c="dimmed" mb="md">
        {input.sessionId === null ? 'Makes a session and sends the message.' : 'Sends the message in this session.'}{' '}
        {overridden && 'Overrides exist in the playground alone: the code uses the agent’s own settings.'}
      </Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="md">
          {all.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {all.map(({ name, code }) => (
          <Tabs.Panel key={name} value={name}>
            <Code code={code} language={languages[name] ?? ''} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Modal>
  )
}
