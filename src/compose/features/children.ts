/** Wires up child sessions: tools ask agents before the host is there that has them answer. */
import { nothingInForce } from '../../actors/reply/start-reply.ts'
import type { Host } from '../../actors/session/host.ts'
import { type Children, createChildren } from '../../features/children/children.ts'
import { createChildStore } from '../../features/children/store/children.ts'
import { encodeStart } from '../../features/continuation/index.ts'
import { encodeInput } from '../../features/queue/store/stored-input.ts'
import { askAgain, type Sql } from '../../persistence/postgres/database.ts'
import type { Owner } from '../../persistence/replies/admission/admission-answer.ts'
import type { Settings } from '../../settings.ts'
import { storageLimits } from '../ownership.ts'

/** The place where tools find what the host opens later. */
export interface LateChildren {
  opened: Children | null
}

interface Parts {
  sql: Sql
  owner(): Owner
  settings: Settings
  generate(replyId: string): void
}

const texts = {
  start: encodeStart({
    ...nothingInForce,
    toolChoice: null,
    reasoning: false,
    shows: { approval: false, caller: false },
    instructions: null,
  }),
  input: encodeInput({
    user: null,
    by: null,
    includeUsage: false,
    reasoning: false,
    fields: {},
    includeActions: false,
    instructions: null,
    overrides: null,
    origin: null,
  }),
}

export const openChildren = (host: Host, { sql, owner, settings, generate }: Parts): Children =>
  createChildren(host, {
    store: createChildStore({ sql, owner, limits: storageLimits(settings), texts }),
    generate,
    again: (ask) => askAgain(ask, settings.ownerLeaseMs),
  })
