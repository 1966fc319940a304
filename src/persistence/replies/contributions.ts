/**
 * The columns that capabilities contribute to what is stored of a message and of its reply. A capability makes its own,
 * and compose/ hands them in: one that is missing does not compile.
 */
import type { CallAnswer, DecidedCall, LimitsInForce, NewMessage, Settlement } from '../../actors/ports/index.ts'
import type { PartRow } from './reading/part-rows.ts'

type Extras = NewMessage['extras']

/** The keys of admit_message.sql, by the extra that they store. */
interface ExtraColumns {
  queue: { input: string }
  limits: { limits: LimitsInForce }
  parts: { parts?: readonly Partial<PartRow>[] }
  approval: {
    answers?: readonly CallAnswer[]
    wait_id?: string | null
    decisions?: readonly DecidedCall[]
    decisions_hash?: string
    in_part?: boolean
  }
  session: {
    external_id: string | null
    secret_number: number | null
    begins?: {
      title: string | null
      metadata: Readonly<Record<string, string>>
      messages: readonly object[]
      summary?: object | undefined
      bytes: number
    }
  }
}

export type AdmissionContributions = {
  readonly [Key in keyof Extras]-?: (extra: NonNullable<Extras[Key]>) => ExtraColumns[Key]
}

/** The keys of fold_reply.sql, by the field of a settlement that they store. */
export interface SettlementContributions {
  /** Returns the argument of keep_waiting_calls.sql. `carried` is text in it: JSON in JSON may hold U+0000. */
  waiting(waiting: NonNullable<Settlement['waiting']>): { calls: readonly object[]; carried: string; asked: object }
  steps(steps: NonNullable<Settlement['steps']>): { ms: number; told: string; requests?: readonly unknown[] }
}

export interface Contributions {
  admission: AdmissionContributions
  settlement: SettlementContributions
}
