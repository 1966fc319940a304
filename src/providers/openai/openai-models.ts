/** The names of OpenAI's models, whoever serves them: the part after the last slash or vendor's prefix. */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).replace(/^openai\./, '')

/** Matches models that think before they answer. */
export const isReasoningModel = (model: string): boolean =>
  /^(?:o\d|gpt-[5-9]|gpt-oss|codex)/i.test(bareName(model)) && !/-chat/i.test(bareName(model))

/**
 * Returns whether the model refuses sampling parameters. Reasoning models do, but open ones, which any provider may
 * serve, accept them.
 */
export const refusesSampling = (model: string): boolean => isReasoningModel(model) && !/^gpt-oss/i.test(bareName(model))
