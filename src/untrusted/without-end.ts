/**
 * Removes these characters from the end of a text. An expression such as `/[. ]+$/` starts anew at each of them, wherever
 * they stand: 60,000 blanks before one letter took 22 s.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
