import { NewPage } from '../blocks/pages/new-page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { HttpToolForm } from './http-tool-form.tsx'
import { createHttpTool, httpToolResource, updateHttpTool } from './resource.ts'
import { TryIt } from './try-it.tsx'

export const New = () => (
  <NewPage
    resource={httpToolResource}
    title="New HTTP tool"
    description="One request to a web API, with placeholders for the model’s values."
  >
    {(onCreated) => <HttpToolForm tool={null} save={createHttpTool} onSaved={onCreated} />}
  </NewPage>
)

export const Existing = () => (
  <RecordPage
    resource={httpToolResource}
    deletion="Its request, headers and arguments are deleted permanently, and agents that use it lose it."
    side={(tool) => <TryIt tool={tool} />}
  >
    {(tool, onSaved, edits) => (
      <HttpToolForm tool={tool} save={(fields) => updateHttpTool(tool.id, fields, edits)} onSaved={onSaved} />
    )}
  </RecordPage>
)
