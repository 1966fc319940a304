/** The place beside a conversation where its spans open: the workbench's side, while that is beside it. */
import { createContext, type RefObject } from 'react'

/** The place for a span that is opened. It is null where there is none, and within that place. */
export const SpanSide = createContext<RefObject<HTMLElement | null> | null>(null)
