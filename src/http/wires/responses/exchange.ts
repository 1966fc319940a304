/** The input that the handlers of the Responses API share. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, UsedMetadataDependencies } from '../../../features/users/index.ts'
import type { DerivedKey } from '../../../persistence/records/access/secrets.ts'
import type { SendDependencies } from '../../sending/send-message.ts'
import type { CompletionDependencies } from '../chat/completions.ts'

export type ResponseDependencies = SendDependencies &
  CompletionDependencies &
  UsedMetadataDependencies & {
    /** The secrets that the ids of keys' sessions are derived with. The first one names new sessions. */
    sessionSecrets: readonly DerivedKey[]
  }

export interface Exchange {
  caller: Caller
  request: FastifyRequest
  reply: FastifyReply
}
