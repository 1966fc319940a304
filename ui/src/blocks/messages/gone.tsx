import { IconDoor } from '@tabler/icons-react'
import { capitalized } from '../words.ts'
import { EmptyState, type EmptyStateProps } from './empty-state.tsx'

/** Shown in place of a record that was deleted or never existed. `noun`: "session". */
export function Gone({ noun, leadTo }: { noun: string } & Pick<EmptyStateProps, 'leadTo'>) {
  return (
    <EmptyState icon={IconDoor} title={`${capitalized(noun)} not found`} leadTo={leadTo}>
      This {noun} has been deleted, or the address is wrong.
    </EmptyState>
  )
}
