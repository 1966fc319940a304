import { Text } from '@mantine/core'
import { ListPage } from '../blocks/pages/list-page.tsx'
import { type HttpTool, httpToolResource } from './resource.ts'

/** A line, however long the address. */
const Request = ({ method, url }: HttpTool) => (
  <Text fz="sm" truncate title={url}>
    {method} {url}
  </Text>
)

export const Component = () => (
  <ListPage
    resource={httpToolResource}
    description="Requests to web APIs that a model may make, with arguments of its choice."
    columns={[{ header: 'Request', width: '50%', cell: Request }]}
    create="New HTTP tool"
    createFirst="Create the first one"
  >
    Let a model call any web API: the weather, your shop’s orders, a search. No code needed.
  </ListPage>
)
