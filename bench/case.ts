/** What a case of the bench is: it measures, and says how its figures are shown. */

import type { Checkout } from './checkout.ts'
import type { Contender, Running } from './contender.ts'
import type { Ground } from './ground.ts'
import type { LoadClient } from './load/client.ts'
import type { Use } from './processes.ts'

/** Names and numbers of one repetition. */
export type Figures = Record<string, number>

export type Column = {
  /** Of the figure. */
  readonly key: string
  readonly title: string
  /** Behind the point; 1 when absent. */
  readonly digits?: number
  /** Shown as what it is more than that row's figure of the same repetition, or how many times that. */
  readonly against?: { readonly row: string; readonly how: 'minus' | 'ratio' }
}

type Described = {
  /** On the command line. */
  readonly name: string
  /** Of several that one name asks for. */
  readonly group?: string
  readonly title: string
  /** What is done and what is counted, for the report. */
  readonly note: string
  readonly columns: readonly Column[]
}

/** Measured of each contender, in turns. */
export type SideCase = Described & { readonly kind: 'side'; measure(turn: Turn): Promise<Figures> }

/** Each row's figures by the row's name. */
export type Rows = Record<string, Figures>

/** Measured of Greenroom alone. */
export type OwnCase = Described & {
  readonly kind: 'own'
  /** What the first column of its table names. */
  readonly rows: string
} & (
    | { measure(checkout: Checkout, ground: Ground): Promise<Rows> }
    /** Where the preparation takes longest: prepares once and answers with all repetitions. */
    | { measureAll(checkout: Checkout, ground: Ground, repetitions: number): Promise<Rows[]> }
  )

export type Case = SideCase | OwnCase

/** One contender, started anew and warm. */
export type Turn = {
  readonly contender: Contender
  readonly running: Running
  readonly load: LoadClient
  /** Replies that this turn has loaded it with, warm-up apart. */
  readonly loaded: number
  /** New sessions or threads, untimed: at most `count`, and no more than fit into ten seconds. */
  prepare(count: number): Promise<string[]>
  /** What its processes used meanwhile (microseconds), and their memory at the end (MB). */
  use<T>(work: () => Promise<T>): Promise<{ result: T; cpu: Use; memory: Use }>
}
