/**
 * What a server asks the user while a tool runs (elicitation). Nobody is there to read it, and it may ask for consent: by
 * default a server is told that it cannot ask. Where the operator has listed its host, a form is sent back as it came.
 */
import type { ClientOptions, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'

/** Options of the SDK's client. `mayAsk`: whether its server may ask the user something. */
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
