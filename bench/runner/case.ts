/** A case of the bench: it measures, and describes how its figures are displayed. */

import type { Checkout } from '../environment/checkout.ts'
import type { Ground } from '../environment/ground.ts'
import type { Use } from '../environment/processes.ts'
import type { LoadClient } from '../load/client.ts'
import type { Contender, Running } from './contender.ts'

/** The figures of one repetition, by name. */
export type Figures = Record<string, number>

export type Column = {
  /** The figure's name. */
  readonly key: string
  readonly title: string
  /** Decimal places; 1 when absent. */
  readonly digits?: number
  /**
   * Displayed as the difference from, or the ratio to, that row's figure (`key`, if it is another) in the same repetition.
   */
  readonly against?: { readonly row: string; readonly how: 'minus' | 'ratio'; readonly key?: string }
}

type Described = {
  /** Name on the command line. */
  readonly name: string
  /** A name that selects several cases. */
  readonly group?: string
  readonly title: string
  /** Shown in the report: what is done and what is counted. */
  readonly note: string
  readonly columns: readonly Column[]
}

/** Measured for each contender, in turns; with `of`, for those alone. */
export type SideCase = Described & {
  readonly kind: 'side'
  readonly of?: readonly string[]
  measure(turn: Turn): Promise<Figures>
}

/** Figures by row name. */
export type Rows = Record<string, Figures>

/** Measured for Greenroom alone. */
export type OwnCase = Described & {
  readonly kind: 'own'
  /** Heading of the table's first column. */
  readonly rows: string
} & (
    | { measure(checkout: Checkout, ground: Ground): Promise<Rows> }
    /** Where preparation dominates: prepares once and returns all repetitions. */
    | { measureAll(checkout: Checkout, ground: Ground, repetitions: number): Promise<Rows[]> }
  )

export type Case = SideCase | OwnCase

/** A contender, freshly started and warmed up. */
export type Turn = {
  readonly contender: Contender
  readonly running: Running
  readonly load: LoadClient
  /** Replies requested in this turn so far, without the warm-up. */
  readonly loaded: number
  /** Creates new sessions or threads, untimed: at most `count`, and no more than fit into ten seconds. */
  prepare(count: number): Promise<string[]>
  /** Returns the CPU time of its processes during `work` (microseconds), and their memory at the end (MB). */
  use<T>(work: () => Promise<T>): Promise<{ result: T; cpu: Use; memory: Use }>
}
