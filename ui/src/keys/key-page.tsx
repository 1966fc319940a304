import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Edits } from '../blocks/editing/edits.ts'
import { Notice } from '../blocks/messages/notice.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { KeyForm } from './key-form.tsx'
import { fieldsOf, roleOfValues } from './key-values.ts'
import { MadeKey } from './new-key.tsx'
import { createKey, type Key, type KeyCreated, keyResource, keyUse, updateKey } from './resource.ts'

export function New() {
  const [made, setMade] = useState<KeyCreated | null>(null)
  const { path, title } = keyResource
  return (
    <Page title={made ? 'Copy the new key' : 'New key'} back={{ to: path, label: title }} width="reading">
      {made ? (
        <MadeKey made={made} />
      ) : (
        <KeyForm
          record={null}
          save={(values) => createKey({ ...fieldsOf(values, null), scopes: values.scopes, role: roleOfValues(values) })}
          onSaved={setMade}
        />
      )}
    </Page>
  )
}

export const Existing = () => (
  <RecordPage
    resource={keyResource}
    about={({ hint, createdBy }) => `gr_…${hint}${createdBy === null ? '' : `, made by ${createdBy}`}`}
    deletion="Whatever uses it is refused within two seconds, on every server, and its open streams end. So are client secrets that were made with it. Running replies run on."
  >
    {(record, onSaved, edits) => <Settings record={record} onSaved={onSaved} edits={edits} />}
  </RecordPage>
)

interface SettingsProps {
  record: Key
  onSaved: () => void
  edits: Edits
}

function Settings({ record, onSaved, edits }: SettingsProps) {
  const { data: use } = useQuery(keyUse(record.id))
  return (
    <>
      {record.warning !== undefined && <Notice>{record.warning}</Notice>}
      <KeyForm
        record={record}
        use={use}
        save={(values) => updateKey(record.id, fieldsOf(values, record), edits)}
        onSaved={onSaved}
      />
    </>
  )
}
