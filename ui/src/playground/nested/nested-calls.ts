/** The place where the session of an agent that was asked is shown: below its call. */
import { type ComponentType, createContext } from 'react'
import type { ToolCall } from '../queries.ts'

export interface NestedSessionProps {
  place: NonNullable<ToolCall['child']>
  /** Whether the call has a result: until then the session is followed. */
  isAnswered: boolean
  /** The key in `unfolded` while it is expanded, whether it is rendered or not. */
  id: string
  unfolded: Set<string>
}

/** The component for a nested session. Null where none is shown. */
export const NestedCalls = createContext<ComponentType<NestedSessionProps> | null>(null)
