/**
 * Questions of a server to the user while a tool runs (elicitation). No user is there to read them, and they may
 * request consent: by default the client declares that it supports none. For hosts that the operator has listed, a form
 * is sent back with its defaults.
 */
import type { ClientOptions, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'

/** Returns the options of the SDK's client. `mayAsk`: whether its server may ask the user something. */
export const clientOptions = (mayAsk: boolean): ClientOptions => ({
  inputRequired: { autoFulfill: mayAsk },
  // The SDK puts the defaults into an accepted form.
  ...(mayAsk && { capabilities: { elicitation: { form: { applyDefaults: true } } } }),
})

/** Accepts a form that its own defaults complete; declines any other, and what is no form. */
export function answerTo({ params }: ElicitRequest): ElicitResult {
  if (!('requestedSchema' in params)) return { action: 'decline' }
  const { properties, required = [] } = params.requestedSchema
  const hasDefault = (name: string) => Object.hasOwn(properties, name) && properties[name]?.default !== undefined
  return required.every(hasDefault) ? { action: 'accept', content: {} } : { action: 'decline' }
}
