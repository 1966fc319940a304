/** The input that the handlers of the Responses API share. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../../features/users/index.ts'
import type { SendDependencies } from '../../sending/send-message.ts'
import type { CompletionDependencies } from '../chat/completions.ts'

export type ResponseDependencies = SendDependencies & CompletionDependencies

export interface Exchange {
  caller: Caller
  request: FastifyRequest
  reply: FastifyReply
}
