import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { Page } from '../blocks/page.tsx'
import { Record } from '../blocks/record.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { SideBySide } from '../blocks/side-by-side.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { HttpToolForm } from './http-tool-form.tsx'
import { deleteHttpTool, type HttpTool, httpToolById, updateHttpTool } from './queries.ts'
import { TryIt } from './try-it.tsx'

const back = { to: '/tools/http', label: 'HTTP tools' }

export function Component() {
  const { id = '' } = useParams()
  return (
    <Record query={useQuery(httpToolById(id))} title="HTTP tool" back={back}>
      {(tool) => <HttpToolPage key={tool.id} tool={tool} />}
    </Record>
  )
}

function HttpToolPage({ tool }: { tool: HttpTool }) {
  const navigate = useNavigate()
  const { id, name, updatedAt } = tool
  return (
    <Page
      title={name}
      description={
        <>
          Changed <RelativeTime iso={updatedAt} />
        </>
      }
      back={back}
      actions={
        <DeleteButton
          kind="HTTP tool"
          name={name}
          remove={() => deleteHttpTool(id)}
          onDeleted={() => navigate('/tools/http', saved)}
        >
          Its request, headers and arguments are lost for good, and every agent that uses it loses it.
        </DeleteButton>
      }
    >
      <SideBySide side={<TryIt tool={tool} />}>
        <HttpToolForm
          tool={tool}
          save={(fields) => updateHttpTool(id, fields)}
          onSaved={() => notifications.show({ message: 'Saved.' })}
        />
      </SideBySide>
    </Page>
  )
}
