/**
 * Answers that must end before they are whole, because their caller may not read on (contract section 11): whoever streams
 * or waits for a reply looks here, so that no route forgets it.
 */
import type { FastifyRequest } from 'fastify'

const signals = new WeakMap<FastifyRequest, AbortSignal>()

/** `signal`'s reason is the error to answer with, where no byte of the answer has gone out. */
export const breakOffWhen = (request: FastifyRequest, signal: AbortSignal) => signals.set(request, signal)

/** Null: nothing breaks it off. */
export const breakOffOf = (request: FastifyRequest): AbortSignal | null => signals.get(request) ?? null
