/**
 * The tools that the agent may call, one row each, with their approvals. A dialog lists all tools that it could call.
 */
import { ActionIcon, Button, Group, Input, Modal, Switch, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { AgentValues } from '../../agent-values.ts'
import classes from '../../agents.module.css'
import { askedBy, type KnownTool, withAsking } from '../../approvals.ts'
import { toolFields } from '../../tool-kinds.ts'
import { useKnownTools } from '../../use-known-tools.ts'
import { SignInServers } from './sign-in-servers.tsx'
import { ToolChoice } from './tool-choice.tsx'

type Form = UseFormReturnType<AgentValues>

export function ToolsField({ form, agentId }: { form: Form; agentId: string | undefined }) {
  const [isOpen, { open, close }] = useDisclosure()
  const chosen = useKnownTools(form.values).filter((tool) => isCalled(tool, form.values))
  // Refused when it is saved: shown where the dialog is closed too.
  const error = Object.entries(form.errors).find(([path]) => toolFields.some((field) => path.startsWith(field)))?.[1]
  return (
    <Input.Wrapper labelElement="div" label="Chosen tools" error={error}>
      <div>
        <Group justify="space-between">
          <Text fz="sm" c="dimmed">
            {chosen.length === 0 ? 'No tools' : `${chosen.length} chosen`}
          </Text>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} stroke={1.7} aria-hidden />}
            onClick={open}
          >
            Add tools
          </Button>
        </Group>
        {chosen.length > 0 && (
          <ul className={classes.chosen} aria-label="Chosen tools">
            {chosen.map((tool) => (
              <ChosenTool key={tool.label} tool={tool} form={form} />
            ))}
          </ul>
        )}
        <SignInServers chosen={form.values.mcpServers} agentId={agentId} />
      </div>
      <Modal opened={isOpen} onClose={close} title="Add tools" size="xl">
        {/* The first of the tools follows; the cross comes before. */}
        <div tabIndex={-1} data-autofocus className={classes.choices}>
          <ToolChoice form={form} />
        </div>
        <Group justify="flex-end" mt="md" className={classes.choiceEnd ?? ''}>
          <Button onClick={close}>Done</Button>
        </Group>
      </Modal>
    </Input.Wrapper>
  )
}

/**
 * Returns whether this row is a tool that the agent calls. A server has either the row of all its tools or rows of
 * single ones.
 */
function isCalled({ approval }: KnownTool, { mcpServers }: AgentValues): boolean {
  if (!('mcpServerId' in approval)) return true
  const names = mcpServers.find(({ mcpServerId }) => mcpServerId === approval.mcpServerId)?.toolNames ?? []
  return approval.toolName === '*' ? names.includes('*') : !names.includes('*')
}

function ChosenTool({ tool, form }: { tool: KnownTool; form: Form }) {
  const { approvals } = form.values
  const by = askedBy(tool, approvals)
  return (
    <li>
      <span className={classes.toolName}>{tool.label}</span>
      <Switch
        size="xs"
        label="Ask first"
        aria-label={`Ask before ${tool.label} is called`}
        checked={by !== null}
        disabled={by === 'wider'}
        onChange={({ currentTarget }) =>
          form.setFieldValue('approvals', withAsking(approvals, tool, currentTarget.checked))
        }
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        aria-label={`Remove ${tool.label}`}
        onClick={() => form.setValues(without(tool, form.values))}
      >
        <IconX size={14} stroke={1.7} />
      </ActionIcon>
    </li>
  )
}

/**
 * Returns the choice without this tool; a server goes with the last of its tools. What was to be asked about it goes
 * too.
 */
function without(tool: KnownTool, { approvals, ...values }: AgentValues): Partial<AgentValues> {
  const { approval } = tool
  const rest = { approvals: withAsking(approvals, tool, false) }
  if ('httpToolId' in approval) {
    return { ...rest, httpToolIds: values.httpToolIds.filter((id) => id !== approval.httpToolId) }
  }
  if ('builtInToolId' in approval) {
    return { ...rest, builtInToolIds: values.builtInToolIds.filter((id) => id !== approval.builtInToolId) }
  }
  if ('agentId' in approval) {
    return { ...rest, agentTools: values.agentTools.filter(({ agentId }) => agentId !== approval.agentId) }
  }
  const mcpServers = values.mcpServers.flatMap((server) => {
    if (server.mcpServerId !== approval.mcpServerId) return [server]
    const toolNames = server.toolNames.filter((name) => name !== approval.toolName)
    return toolNames.length === 0 ? [] : [{ ...server, toolNames }]
  })
  return { ...rest, mcpServers }
}
