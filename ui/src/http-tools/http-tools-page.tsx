import { ListPage } from '../blocks/pages/list-page.tsx'
import { httpToolResource } from './resource.ts'

export const Component = () => (
  <ListPage
    resource={httpToolResource}
    description="Requests to web APIs that a model may make, with arguments of its choice."
    columns={[{ header: 'Request', width: '50%', cell: ({ method, url }) => `${method} ${url}` }]}
    create="New HTTP tool"
    createFirst="Create the first one"
  >
    Let a model call any web API: the weather, your shop’s orders, a search. No code needed.
  </ListPage>
)
