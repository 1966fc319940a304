/**
 * The thread that reads one YAML document (yaml-body.ts), as strictly as JSON is read: YAML 1.2's core schema, no tags
 * of one's own, no merge keys, no aliases (a few lines of them unfold to more than any memory holds), no key twice.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml'
import { MOST_LEVELS, MOST_VALUES } from '../../../http/server/json-size.ts'
import { findFault } from '../../../http/server/request-body/text.ts'
import { keepDigits } from '../../../untrusted/exact-yaml.ts'

/** `json`: the document as JSON text, which the server reads faster than a cloned object. */
export type YamlAnswer = { json: string } | { fault: string }

/** Fit for the caller. Names the line alone: the words there may be a secret. */
class Fault extends Error {}

const tooMany = `body: must not hold more than ${MOST_VALUES} values`

function read(text: string): string {
  refuseManyTokens(text)
  const lines = new LineCounter()
  // The library's own check of keys compares each with all before it: 390 KB of them took 47 s.
  const options = { lineCounter: lines, prettyErrors: false, schema: 'core', uniqueKeys: false } as const
  const document = parseDocument(text, options)
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Fault(`body: is not valid YAML (line ${lines.linePos(problem.pos[0]).line})`)
  checkNodes(document, lines)
  const value: unknown = document.toJS({ maxAliasCount: 0 })
  const fault = findFault(value)
  if (fault) throw new Fault(fault)
  return JSON.stringify(value ?? null)
}

const countedTokens = new Set([
  'scalar',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'block-scalar',
  'flow-map-start',
  'flow-seq-start',
  'seq-item-ind',
])

/**
 * Refuses many tokens, before anything is built of them: 1 MiB of `{},` is 350,000 nodes of 1 KB. Keys are tokens too.
 */
function refuseManyTokens(text: string): void {
  let tokens = 0
  for (const token of new Lexer().lex(text)) {
    // `- a` is two tokens and one value, `a: b` two and one.
    if (countedTokens.has(CST.tokenType(token) ?? '') && ++tokens > 2 * MOST_VALUES + 1) throw new Fault(tooMany)
  }
}

interface Level {
  node: unknown
  depth: number
}

function checkNodes(document: Document, lines: LineCounter): void {
  const open: Level[] = [{ node: document.contents, depth: 1 }]
  let values = 0
  for (let at = open.pop(); at; at = open.pop()) {
    const { node, depth } = at
    if (++values > MOST_VALUES) throw new Fault(tooMany)
    if (isAlias(node)) throw new Fault('body: is not valid YAML (aliases are not taken)')
    if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
      throw new Fault(`body: holds a number that JSON does not have${place(node, lines)}`)
    }
    if (isScalar(node)) keepDigits(node)
    if (!isMap(node) && !isSeq(node)) continue
    if (depth > MOST_LEVELS) throw new Fault(`body: must not be nested more than ${MOST_LEVELS} deep`)
    if (isMap(node)) checkKeys(node.items, lines)
    for (const item of node.items) open.push({ node: isMap(node) ? pairValue(item) : item, depth: depth + 1 })
  }
}

const pairValue = (pair: unknown): unknown =>
  pair !== null && typeof pair === 'object' && 'value' in pair ? pair.value : null

/** Checks keys. They become texts: `1` and `"1"` are one key. */
function checkKeys(pairs: readonly { key: unknown }[], lines: LineCounter): void {
  const seen = new Set<string>()
  for (const { key } of pairs) {
    if (!isScalar(key)) throw new Fault(`body: is not valid YAML (keys must be plain text${place(key, lines)})`)
    const name = String(key.value)
    if (seen.has(name)) throw new Fault(`body: is not valid YAML (a key is there twice${place(key, lines)})`)
    seen.add(name)
  }
}

function place(node: unknown, lines: LineCounter): string {
  const range = node !== null && typeof node === 'object' && 'range' in node ? node.range : null
  return Array.isArray(range) ? `, line ${lines.linePos(Number(range[0])).line}` : ''
}

function answer(text: string): YamlAnswer {
  try {
    return { json: read(text) }
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message }
    if (error instanceof RangeError) return { fault: `body: must not be nested more than ${MOST_LEVELS} deep` }
    return { fault: 'body: is not valid YAML' }
  }
}

parentPort?.postMessage(answer(String(workerData)))
