/** YAML whose numbers keep their digits (contract section 35), as exact-json.ts has it for JSON. */
import { parseDocument, type Scalar, visit } from 'yaml'

/** Matches the numbers of JSON: YAML has other forms, such as 0x1F and +1. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Puts a raw number in place of one that JavaScript would write otherwise. */
export function keepDigits(node: Scalar): void {
  const { source, value } = node
  if (typeof value === 'number' && source && String(value) !== source && JSON_NUMBER.test(source)) {
    node.value = JSON.rawJSON(source)
  }
}

/** Parses a YAML document of one's own, as `parseExact` does. Throws as the library does. */
export function parseExactYaml(text: string): unknown {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error) throw error
  visit(document, { Scalar: (_, node) => keepDigits(node) })
  return document.toJS()
}
