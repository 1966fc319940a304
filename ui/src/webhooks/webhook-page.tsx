import { NewPage } from '../blocks/pages/new-page.tsx'
import { RecordPage } from '../blocks/pages/record-page.tsx'
import { Deliveries } from './deliveries.tsx'
import { createWebhook, updateWebhook, webhookResource } from './resource.ts'
import { SecretPanel } from './secret-panel.tsx'
import { TestPanel } from './test-panel.tsx'
import { WebhookForm } from './webhook-form.tsx'

export const New = () => (
  <NewPage
    resource={webhookResource}
    title="New webhook"
    description="Its secret is shown once, when it has been created."
  >
    {(onCreated) => <WebhookForm webhook={null} save={createWebhook} onSaved={onCreated} />}
  </NewPage>
)

export const Existing = () => (
  <RecordPage
    resource={webhookResource}
    deletion="Its address, secret and deliveries are deleted permanently; what is pending is not sent any more."
    side={({ id }, edits) => (
      <>
        <SecretPanel webhookId={id} edits={edits} />
        <TestPanel webhookId={id} />
        <Deliveries webhookId={id} />
      </>
    )}
  >
    {(webhook, onSaved, edits) => (
      <WebhookForm webhook={webhook} save={(fields) => updateWebhook(webhook.id, fields, edits)} onSaved={onSaved} />
    )}
  </RecordPage>
)
