/** The key itself, which is shown this once. */
import { Alert, Button, Stack } from '@mantine/core'
import { Link } from 'react-router'
import { CodeBlock } from '../blocks/code-block.tsx'
import { Notice } from '../blocks/messages/notice.tsx'
import { type KeyCreated, keyResource } from './resource.ts'

export const MadeKey = ({ made: { id, name, key, warning } }: { made: KeyCreated }) => (
  <Stack gap="lg">
    <Alert color="accent" role="status" title={`“${name}” is ready`}>
      Copy it now: only its hash is stored, and it is not shown again.
    </Alert>
    <CodeBlock code={key} caption="the key" />
    {warning !== undefined && <Notice>{warning}</Notice>}
    <div>
      <Button component={Link} to={`${keyResource.path}/${id}`}>
        I have copied it
      </Button>
    </div>
  </Stack>
)
