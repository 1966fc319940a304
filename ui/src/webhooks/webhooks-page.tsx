import { ListPage } from '../blocks/pages/list-page.tsx'
import { webhookResource } from './resource.ts'
import { WebhookState } from './webhook-state.tsx'

export const Component = () => (
  <ListPage
    resource={webhookResource}
    description="URLs that are notified when a reply ends, so that nobody has to poll."
    columns={[
      { header: 'URL', width: '40%', minor: true, cell: ({ url }) => url },
      { header: 'State', width: 'min(14rem, 55%)', cell: (webhook) => <WebhookState webhook={webhook} /> },
    ]}
    create="New webhook"
    createFirst="Create the first one"
  >
    A webhook sends a signed request to your server for each reply that ends, and tries again until it is received.
  </ListPage>
)
