/** The size of a prompt, for the reader: characters as code points, tokens as an estimate. */

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/**
 * Returns the size. Vendors count differently: four letters a token is usual, one a token in Chinese, Japanese and
 * Korean.
 */
export function textSize(text: string): { characters: number; tokens: number } {
  const characters = [...text].length
  const wideOnes = text.match(wide)?.length ?? 0
  return { characters, tokens: Math.ceil((characters - wideOnes) / 4 + wideOnes) }
}
