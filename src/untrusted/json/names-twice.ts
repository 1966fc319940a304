/** The search for names that stand twice in one object of a JSON text, at any depth. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Returns whether an object of the text, which is JSON, has a name twice. */
export function namesTwice(text: string): boolean {
  const objects: (Set<string> | null)[] = []
  let name: string | null = null
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') objects.push(new Set())
    else if (token === '[') objects.push(null)
    else if (token === '}' || token === ']') objects.pop()
    else if (token === ':' && name !== null) {
      const known = objects.at(-1)
      if (known?.has(name)) return true
      known?.add(name)
    }
    name = token.startsWith('"') ? String(JSON.parse(token)) : null
  }
  return false
}
