/** Reports whether a text can be an API key, which is sent in a header. Blanks around it are cut off there. */
export const canBeApiKey = (text: string): boolean => /^[\x21-\x7e]*$/.test(text.trim())
