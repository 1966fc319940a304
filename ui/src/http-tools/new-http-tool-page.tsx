import { notifications } from '@mantine/notifications'
import { useNavigate } from 'react-router'
import { Page } from '../blocks/page.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { HttpToolForm } from './http-tool-form.tsx'
import { createHttpTool } from './queries.ts'

export function Component() {
  const navigate = useNavigate()
  return (
    <Page
      title="New HTTP tool"
      description="One request to a web API, with places for what the model gives."
      back={{ to: '/tools/http', label: 'HTTP tools' }}
      width="reading"
    >
      <HttpToolForm
        tool={null}
        save={createHttpTool}
        onSaved={({ id, name }) => {
          notifications.show({ message: `Created the HTTP tool “${name}”.` })
          void navigate(`/tools/http/${id}`, { ...saved, replace: true })
        }}
      />
    </Page>
  )
}
