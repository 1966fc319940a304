/**
 * Returns the name of an OpenAI model, whoever serves it: the part after the last slash or vendor's prefix. A model that
 * was tuned counts as the one it was made from.
 */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).replace(/^(?:openai\.|ft:)/, '')

/** Matches models that think before they answer. */
export const isReasoningModel = (model: string): boolean =>
  /^(?:o\d|gpt-[5-9]|gpt-oss|codex)/i.test(bareName(model)) && !/-chat/i.test(bareName(model))

/**
 * Returns whether the model refuses sampling parameters. Reasoning models do, but open ones, which any provider may
 * serve, accept them.
 */
export const refusesSampling = (model: string): boolean => isReasoningModel(model) && !/^gpt-oss/i.test(bareName(model))
