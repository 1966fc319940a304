/**
 * `node scripts/words.ts [folder or file …]`: checks the grammar of doc comments. That of a function begins with a verb in
 * the third person; that of a type, a field or a constant begins with a noun or an article. Without arguments it reads all
 * checked folders, and the subjects of commits. Prints one line for each finding; exit code 1 if there are any.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { argv } from 'node:process'
import ts from 'typescript'

export type Kind = 'function' | 'procedure' | 'component' | 'callback' | 'declaration' | 'header'

export interface Finding {
  line: number
  says: string
  advice: string
}

const folders = ['src', 'ui/src', 'openapi', 'packages', 'scripts', 'test/support', 'bench', 'examples']
const skipped = /(^|\/)(node_modules|dist|generated|migrations)(\/|$)/

/** Words that begin no doc comment, each with what to write instead. */
const banned = new Map<string, string>()
for (const [advice, words] of [
  ['name the thing: "The …", or for a function "Returns the …"', 'What Which Whose Who Whom That Whatever Whichever'],
  ['name the thing instead of a pronoun', 'One Ones Those These Its It Their They Them Others Something Anything Such'],
  ['name the person: "The caller …", "The user …"', 'Whoever Whomever Somebody Someone Nobody Anybody Everybody'],
  [
    'name the thing, then the condition or place: "The …, where …"',
    'Where Wherever As So Likewise Also Too There Here',
  ],
] as const) {
  for (const word of words.split(' ')) banned.set(word.toLowerCase(), advice)
}

/** Words in "s" that are no verbs. Plurals of nouns that are verbs as well are in `ambiguous`. */
const notVerbs = new Set(
  `agents always apis approvals arguments aliases as bodies bytes callers candidates channels characters children choices
  clients codes columns commands connections contents contexts creations credentials days databases decisions definitions
  deletions deliveries details entries episodes errors events failures fallbacks figures folders formulas gaps
  headers histories hosts hours ids indexes ingredients inputs instances intents its keywords keys less letters
  lines messages methods microseconds milliseconds models modules neighbours nothings operations options orphans others outcomes
  owners paragraphs parameters parts paths pathes percentages perhaps pictures pieces pixels plus positions prices processes
  prompts properties providers ranges reasons refusals replies responses roles rounds rows scripts seconds sentences servers
  sessions settings settlements signatures snapshots sources spans spreadsheets statements statuses steps strings subjects
  summaries temperatures texts thanks things this thus tokens tools transactions types units unless upwards users
  values variables vendors versions warnings weeks words yes downwards afterwards besides contracts`.split(/\s+/),
)

/** Words that are a verb or a plural: a noun where a preposition or a relative pronoun follows. */
const ambiguous =
  /^(answers|attempts|blocks|calls|changes|chunks|clones|commits|counts|cuts|delays|ends|fields|files|frames|groups|labels|limits|lists|logs|names|notes|numbers|pages|places|records|reports|requests|results|runs|scopes|starts|states|streams|tests|times|titles|traces|turns|uses) (of|that|which|who|whose|with|without|by|in|from|whom)\b/i
const alwaysVerbs =
  /^((runs|ends|counts|starts|answers|streams|reports|turns|cuts|lists|names|commits) (in|with|without|from|by)|reports that)\b/i

const isVerb = (word: string, text: string): boolean =>
  /^[a-z]+(-[a-z]+)*s$/.test(word) &&
  !/ss$|ous$/.test(word) &&
  !notVerbs.has(word) &&
  (!ambiguous.test(text) || alwaysVerbs.test(text))

/** Verbs that are no nouns, so that a comment of a type or a field which begins with one is certainly wrong. */
const clearVerbs = new Set(
  `accepts adds aborts admits applies asks becomes begins belongs brings builds chooses closes collects compares contains converts
  creates decides declares decodes deletes describes determines does draws encodes exists fails fetches finds flushes follows
  forwards generates gets gives goes has holds identifies implements imports inserts is judges keeps lays leaves loads locks makes
  measures means needs opens owns parses prevents reads receives refuses remembers removes renders resolves responds returns
  says sees selects sends serves sets settles shows signs splits stands stops stores takes tells throws tries updates
  visits waits withholds writes`.split(/\s+/),
)

/** Returns what to write instead of the comment's beginning, or null when the comment keeps the rules. */
export function adviceFor(kind: Kind, comment: string): string | null {
  const text = plain(comment)
  const word = /^[\p{L}'’-]+/u.exec(text)?.[0].toLowerCase() ?? ''
  if (text === '' || text.startsWith('@')) return null
  const replacement = banned.get(word)
  if (replacement !== undefined) return replacement
  if (kind === 'procedure' && word === 'returns') return 'it returns nothing: begin with the verb of what it does'
  if ((kind === 'function' || kind === 'procedure') && !isVerb(word, text))
    return `begin with a verb: ${verbFor(word, text)}`
  if (kind === 'declaration' && clearVerbs.has(word)) return 'begin with a noun or an article: "The …", "True if …"'
  if ((kind === 'declaration' || kind === 'component') && /^(how|why|when)$/.test(word))
    return 'begin with a noun: "The number of …", "The time of …", "The reason for …"'
  return null
}

function verbFor(word: string, text: string): string {
  const rest = text.split(/\s+/).slice(1, 3).join(' ')
  if (/^(whether|true|false)$/.test(word)) return '"Returns whether …" or "Returns true if …"'
  if (/^(null|undefined)$/.test(word)) return `"Returns the …, or ${word} if …"`
  if (/^(the|a|an|all|each|every|how|why|when)$/.test(word))
    return `"Returns ${word} ${rest} …", "Decides", "Removes" …`
  return '"Returns", "Decides", "Removes" …'
}

/** Returns the text of a comment without its marks, in one line. */
function plain(comment: string): string {
  return comment
    .replace(/^\/\*+|\*\/$/g, '')
    .replace(/^\s*(\*|--)(?= |$)/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Returns the findings of a TypeScript file. */
export function checkTypeScript(path: string, text: string): Finding[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const findings: Finding[] = []
  const seen = new Set<number>()
  const visit = (node: ts.Node): void => {
    const comments =
      ts.getLeadingCommentRanges(text, node.pos)?.filter((range) => text.startsWith('/**', range.pos)) ?? []
    for (const [index, range] of comments.entries()) {
      if (seen.has(range.pos)) continue
      seen.add(range.pos)
      const kind = index === comments.length - 1 ? kindOf(node, path) : 'header'
      add(findings, text, range.pos, kind, text.slice(range.pos, range.end))
    }
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(source, visit)
  return findings
}

function add(findings: Finding[], text: string, at: number, kind: Kind, comment: string): void {
  const advice = adviceFor(kind, comment)
  if (advice === null) return
  const says = plain(comment).split(' ').slice(0, 9).join(' ')
  findings.push({ line: text.slice(0, at).split('\n').length, says, advice })
}

/** Returns the kind of thing that a comment before this node documents. */
function kindOf(node: ts.Node, path: string): Kind {
  const held = ts.isVariableStatement(node) ? node.declarationList.declarations[0] : node
  if (held === undefined) return 'header'
  if (isFunctionNode(held)) {
    const isComponent = path.endsWith('.tsx') && /^[A-Z]/.test(held.name?.getText() ?? '')
    if (isComponent) return 'component'
    return returnsNothing(held) ? 'procedure' : 'function'
  }
  if ((ts.isPropertySignature(held) || ts.isParameter(held)) && held.type !== undefined && hasFunctionType(held.type))
    return 'callback'
  if ((ts.isVariableDeclaration(held) || ts.isPropertyAssignment(held)) && isWrappedFunction(held.initializer))
    return 'callback'
  if (ts.isImportDeclaration(held) || ts.isExpressionStatement(held) || ts.isExportDeclaration(held)) return 'header'
  return 'declaration'
}

type FunctionNode =
  | ts.FunctionDeclaration
  | ts.MethodDeclaration
  | ts.MethodSignature
  | ts.VariableDeclaration
  | ts.PropertyAssignment
  | ts.PropertyDeclaration

function isFunctionNode(node: ts.Node): node is FunctionNode {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node)) return true
  if (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node))
    return node.initializer !== undefined && isFunctionValue(node.initializer)
  return false
}

const nothing = new Set(['void', 'Promise<void>'])

/** Returns whether it is declared to return nothing, or a promise of nothing. */
function returnsNothing(node: FunctionNode): boolean {
  const value = 'initializer' in node ? node.initializer : node
  return value !== undefined && ts.isFunctionLike(value) && nothing.has(value.type?.getText() ?? '')
}

function isFunctionValue(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return isFunctionValue(node.expression)
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node)
}

/** Returns whether the value is a function within a call, as of `useCallback`, or an alternative of a conditional. */
function isWrappedFunction(value: ts.Expression | undefined): boolean {
  if (value === undefined) return false
  if (ts.isConditionalExpression(value)) return [value.whenTrue, value.whenFalse].some(isFunctionValue)
  return ts.isCallExpression(value) && value.arguments.some(isFunctionValue)
}

function hasFunctionType(type: ts.TypeNode): boolean {
  if (ts.isParenthesizedTypeNode(type)) return hasFunctionType(type.type)
  return ts.isFunctionTypeNode(type) || (ts.isUnionTypeNode(type) && type.types.some(hasFunctionType))
}

/** Returns the findings of an SQL file: the comment before its first statement is checked. */
export function checkSql(text: string): Finding[] {
  const comment = /^(?:-- revision \d+\n)?\s*(\/\*[\s\S]*?\*\/|(?:--.*\n)+)/.exec(text)
  const words = comment?.[1]
  if (comment === null || words === undefined) return []
  const findings: Finding[] = []
  const kind = /^create (or replace )?(function|procedure)\b/m.test(text) ? 'function' : 'header'
  add(findings, text, comment.index + comment[0].length - words.length, kind, words)
  return findings
}

/** Returns the lines of `git log --format="%h %s"` whose subject is longer than 72 characters. */
export const longSubjects = (log: string): string[] =>
  log.split('\n').filter((line) => line.slice(line.indexOf(' ') + 1).length > 72)

/** Returns the log of the commits made since this rule; empty where there is no history. */
function logSinceRule(): string {
  try {
    const args = ['log', '--no-merges', '--since=2026-11-29T00:00:00Z', '--format=%h %s']
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

function filesIn(place: string): string[] {
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [place]
  return globSync(`${place.replace(/\/$/, '')}/**/*.{ts,tsx,sql}`)
    .filter((file) => !skipped.test(file))
    .sort()
}

function main(places: string[]): void {
  let count = 0
  for (const file of (places.length > 0 ? places : folders).flatMap(filesIn)) {
    const text = readFileSync(file, 'utf8')
    for (const { line, says, advice } of file.endsWith('.sql') ? checkSql(text) : checkTypeScript(file, text)) {
      count += 1
      console.log(`${file}:${line}: "${says} …": ${advice}`)
    }
  }
  for (const line of places.length > 0 ? [] : longSubjects(logSinceRule())) {
    count += 1
    console.log(`${line}: the subject of a commit has at most 72 characters`)
  }
  if (count === 0) return
  console.log(`${count} ${count === 1 ? 'finding' : 'findings'}`)
  process.exitCode = 1
}

if (import.meta.main) main(argv.slice(2))
