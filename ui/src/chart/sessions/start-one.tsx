import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { allAgents } from '../../agents/resource.ts'
import { keepDraft } from '../../playground/composer/drafts.ts'

/** Twenty seconds of the demo provider. */
const slowMessage = '/slow 40'

/** Opens the playground with a message in its field that takes long enough to be watched. */
export function StartOne() {
  const { data: agents } = useQuery(allAgents)
  if (agents === undefined) return null // the message would be kept for no agent
  const [agent] = agents
  return (
    <Button
      component={Link}
      to={agent ? `/playground/${agent.id}` : '/playground'}
      onClick={() => agent && keepDraft(agent.id, null, slowMessage)}
    >
      Start a slow reply in the playground
    </Button>
  )
}
