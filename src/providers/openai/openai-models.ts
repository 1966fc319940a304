/** What OpenAI's models are known by, whoever serves them: the part of the name behind the last slash or vendor's prefix. */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).replace(/^openai\./, '')

/** Models that think before they answer. */
export const isReasoningModel = (model: string): boolean =>
  /^(?:o\d|gpt-[5-9]|gpt-oss|codex)/i.test(bareName(model)) && !/-chat/i.test(bareName(model))

/** They refuse other sampling than their own; the open ones, which anybody serves, take it. */
export const refusesSampling = (model: string): boolean => isReasoningModel(model) && !/^gpt-oss/i.test(bareName(model))
