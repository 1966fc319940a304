import { IconHistory } from '@tabler/icons-react'
import { ButtonTo } from '../login/button-to.tsx'

/** Leads to who changed a record, and what, line by line. */
export const History = ({ kind, name }: { kind: string; name: string }) => (
  <ButtonTo
    to={`/audit?${new URLSearchParams({ kind, q: name })}`}
    variant="default"
    leftSection={<IconHistory size={16} stroke={1.7} aria-hidden />}
  >
    History
  </ButtonTo>
)
