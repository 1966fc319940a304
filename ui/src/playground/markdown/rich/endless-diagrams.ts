/**
 * Diagrams that the library draws for ever, or for minutes. Where the browser runs a frame and its page in one thread, the
 * page would stand still, and no time limit would end it.
 */

/** Returns whether drawing may take for ever. */
export const mayNeverEnd = (source: string): boolean => {
  const text = withoutWords(source)
  return kinds.some(([kind, isEndless]) => kind.test(source) && isEndless(text, source))
}

/** Removes texts in quotes, which are only written, and colours. */
const withoutWords = (source: string): string => source.replace(/"[^"]*"/g, '""').replace(/#[0-9a-f]{3,8}\b/gi, '')

/** Kinds in which the library counts up to a number of the source, or goes into what contains itself. */
const kinds: readonly (readonly [RegExp, (text: string, source: string) => boolean])[] = [
  [/^\s*(?:packet|radar)(?:-beta)?\b/m, (text, source) => /\d{5}/.test(text) || /\bbitsPerRow[\s":]*[-0]/.test(source)],
  [/^\s*block(?:-beta)?\b/m, (text) => /\d{4}/.test(text) || nestsDeep(text)],
  [/^\s*gantt\b/m, (text) => /^\s*excludes\b/m.test(text) && /\b(?:\d{4,}\s*[yM]|\d{5,}\s*[wdhms])/.test(text)],
  [/^\s*stateDiagram(?:-v2)?\b/m, containsItself],
]

/** Each level doubles the time of the one around it. */
const MOST_LEVELS = 10

function nestsDeep(text: string): boolean {
  let level = 0
  for (const [line] of text.matchAll(/^\s*(?:block\b(?!-beta).*|end\s*)$/gm)) {
    level += line.trim() === 'end' ? -1 : 1
    if (level > MOST_LEVELS) return true
  }
  return false
}

/** Returns whether a state stands within itself, directly or by way of others. */
function containsItself(text: string): boolean {
  const inside = new Map<string, Set<string>>()
  const around: string[] = []
  for (const line of text.split(/\n|;/)) {
    const opened = /^\s*state\s+(?:""\s+as\s+)?([^\s{]+)\s*\{/.exec(line)?.[1]
    const names = opened === undefined ? statesIn(line) : [opened]
    const outer = around.at(-1)
    if (outer !== undefined) for (const name of names) inside.set(outer, (inside.get(outer) ?? new Set()).add(name))
    if (opened !== undefined) around.push(opened)
    else if (/^\s*\}/.test(line)) around.pop()
  }
  return [...inside.keys()].some((state) => reaches(inside, state, state, new Set()))
}

/** Returns the states that a line names: the ends of a transition, or one that is declared. */
function statesIn(line: string): string[] {
  const [, from, to] = /^\s*(\S+?)\s*-->\s*([^\s:]+)/.exec(line) ?? []
  if (from !== undefined && to !== undefined) return [from, to].filter((name) => name !== '[*]')
  const declared = /^\s*(?:state\s+(?:""\s+as\s+)?)?([^\s:{}]+)/.exec(line)?.[1]
  return declared === undefined ? [] : [declared]
}

function reaches(inside: ReadonlyMap<string, Set<string>>, from: string, to: string, seen: Set<string>): boolean {
  for (const name of inside.get(from) ?? []) {
    if (name === to) return true
    if (seen.has(name)) continue
    seen.add(name)
    if (reaches(inside, name, to, seen)) return true
  }
  return false
}
