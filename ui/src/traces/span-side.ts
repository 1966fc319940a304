/** The place beside a conversation where its spans open: the workbench's side, while that is beside it. */
import { createContext, type RefObject } from 'react'

/** Null: there is no such place, or a trace is in it itself. */
export const SpanSide = createContext<RefObject<HTMLElement | null> | null>(null)
