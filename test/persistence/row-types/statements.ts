/**
 * The text of each statement that names its row's type, sql<Row[]>`…`, read from the source: fragments are followed to
 * where they are made, values become parameters. Of a choice between two fragments each is taken once.
 */
import ts from 'typescript'
import { functionAround, nodesOf, type Source } from './source.ts'

export interface Statement {
  name: string
  row: ts.Type
  at: ts.Node
  text: string
  /** What the library would tell PostgreSQL of each parameter's type: it infers all others. */
  parameters: ('boolean' | 'date' | 'unknown')[]
  /** The call that gave the fragments. Null when the statement needs none of a caller. */
  caller: ts.CallExpression | null
}

/** What each parameter was given. No fragment is made of itself, so that one map serves all functions on the way. */
type Bindings = ReadonlyMap<ts.Symbol, ts.Expression>

/** A fragment is a parameter of this function: each call of it makes a statement of its own. */
class OfCaller extends Error {
  readonly parameter: ts.ParameterDeclaration

  constructor(parameter: ts.ParameterDeclaration) {
    super(`The fragment ${parameter.name.getText()} is not known here.`)
    this.parameter = parameter
  }
}

export interface Typed {
  /** `all-sessions.ts countUp`, with a number where one function has several. */
  name: string
  node: ts.TaggedTemplateExpression | ts.CallExpression
  row: ts.Type
}

/** Every tagged template with a type argument, and every call of `unsafe` with one. */
export function typedStatements(source: Source): Typed[] {
  const counts = new Map<string, number>()
  return source.files.flatMap((file) =>
    [...nodesOf(file)].flatMap((node) => {
      if (!isTyped(node)) return []
      const [argument] = node.typeArguments ?? []
      const row = argument && source.checker.getIndexTypeOfType(source.checker.getTypeFromTypeNode(argument), 1)
      if (!row) throw new Error(`${file.fileName}: a type argument is no array: ${argument?.getText()}`)
      const place = [file.fileName.split('/').at(-1), functionAround(node)?.text].filter(Boolean).join(' ')
      const count = (counts.get(place) ?? 0) + 1
      counts.set(place, count)
      return [{ name: count === 1 ? place : `${place} ${count}`, node, row }]
    }),
  )
}

const isTyped = (node: ts.Node): node is Typed['node'] =>
  (ts.isTaggedTemplateExpression(node) && node.typeArguments?.length === 1) ||
  (ts.isCallExpression(node) && node.typeArguments?.length === 1 && /\.unsafe$/.test(node.expression.getText()))

/** The forms that a statement has: with either side of its choices, and as each caller composes it. */
export function formsOf(source: Source, { name, node, row }: Typed): Statement[] {
  if (ts.isCallExpression(node)) throw new NotFollowed(`The text is computed: ${node.getText()}`)
  const forms = [0, 1].flatMap((side) => composed(new Composer(source, side), node, new Map(), null))
  const texts = new Map(forms.map((form) => [form.text, form]))
  return [...texts.values()].map((form) => ({ name, at: node, ...form, row: rowOfCaller(source, row, form.caller) }))
}

/** Returns the type of the rows; where that is a type parameter, what the caller gives for it. */
function rowOfCaller({ checker }: Source, row: ts.Type, caller: ts.CallExpression | null): ts.Type {
  const argument = caller?.typeArguments?.[0]
  return argument && row.flags & ts.TypeFlags.TypeParameter ? checker.getTypeFromTypeNode(argument) : row
}

type Composed = Pick<Statement, 'text' | 'parameters' | 'caller'>

function composed(
  composer: Composer,
  node: ts.TaggedTemplateExpression,
  bindings: Bindings,
  caller: ts.CallExpression | null,
): Composed[] {
  try {
    return [{ ...composer.compose(node, bindings), caller }]
  } catch (error) {
    if (!(error instanceof OfCaller)) throw error
    const callers = composer.callersOf(error.parameter, bindings)
    return callers.flatMap(([call, known]) => composed(composer, node, known, call))
  }
}

/** Text that this file does not find out. */
export class NotFollowed extends Error {}

class Composer {
  readonly #source: Source
  /** 0: the first of two fragments wherever there is a choice; 1: the second. */
  readonly #side: number
  #parameters: Statement['parameters'] = []

  constructor(source: Source, side: number) {
    this.#source = source
    this.#side = side
  }

  compose(node: ts.TaggedTemplateExpression, bindings: Bindings): Omit<Composed, 'caller'> {
    this.#parameters = []
    return { text: this.#textOf(node, bindings), parameters: this.#parameters }
  }

  /** What is known of the function's parameters in each call of it. */
  callersOf(parameter: ts.ParameterDeclaration, bindings: Bindings): [ts.CallExpression, Bindings][] {
    const { parent } = parameter
    // A method of a table of records: what it returns are the columns that the table's `find` reads, too.
    if (ts.isMethodDeclaration(parent)) return []
    const named = ts.isFunctionDeclaration(parent)
      ? parent.name
      : ts.isVariableDeclaration(parent.parent) && parent.parent.name
    const symbol = named && this.#source.symbolAt(named)
    if (!symbol) throw new Error(`A function without a name takes a fragment: ${parent.getText()}`)
    return this.#source.callsOf(symbol).map((call) => [call, new Map([...bindings, ...this.#bound(parent, call)])])
  }

  #bound(declaration: ts.SignatureDeclaration, call: ts.CallExpression): Bindings {
    return new Map(
      declaration.parameters.flatMap(({ name }, index) => {
        const symbol = this.#source.symbolAt(name)
        const node = call.arguments[index]
        return symbol && node ? [[symbol, node] as const] : []
      }),
    )
  }

  #textOf({ template }: ts.TaggedTemplateExpression, bindings: Bindings): string {
    if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text
    const rest = template.templateSpans.map(
      ({ expression, literal }) => this.#part(expression, bindings) + literal.text,
    )
    return template.head.text + rest.join('')
  }

  /** What stands for an expression within a statement. */
  #part(node: ts.Expression, bindings: Bindings): string {
    if (ts.isCallExpression(node)) {
      // `sql('m.id')` is the name in quotes, `sql.unsafe('m')` the text itself.
      const [called, [first]] = [node.expression.getText(), node.arguments]
      if (/^(sql|tx)$/.test(called)) return this.#literal(first, bindings).replace(/[^.]+/g, '"$&"')
      if (/^(sql|tx)\.unsafe$/.test(called)) return this.#literal(first, bindings)
    }
    if (this.#isFragment(node)) return this.#fragment(node, bindings)
    return `$${this.#parameters.push(this.#parameterType(node))}`
  }

  #isFragment(node: ts.Expression): boolean {
    const type = this.#source.checker.getTypeAtLocation(node)
    return type.getProperty('describe') !== undefined && type.getProperty('cursor') !== undefined
  }

  #fragment(node: ts.Expression, bindings: Bindings): string {
    if (ts.isTaggedTemplateExpression(node)) return this.#textOf(node, bindings)
    if (ts.isParenthesizedExpression(node)) return this.#fragment(node.expression, bindings)
    if (ts.isConditionalExpression(node)) {
      return this.#fragment(this.#side === 0 ? node.whenTrue : node.whenFalse, bindings)
    }
    if (ts.isIdentifier(node)) return this.#named(node, bindings, (value) => this.#fragment(value, bindings))
    if (ts.isCallExpression(node)) return this.#called(node, bindings)
    if (ts.isElementAccessExpression(node) && ts.isObjectLiteralExpression(node.expression)) {
      const chosen = node.expression.properties.at(this.#side === 0 ? 0 : -1)
      if (chosen && ts.isPropertyAssignment(chosen)) return this.#fragment(chosen.initializer, bindings)
    }
    throw new NotFollowed(`A fragment that is not followed: ${node.getText()}`)
  }

  #called(call: ts.CallExpression, bindings: Bindings): string {
    const symbol = this.#source.symbolAt(call.expression)
    const declared = symbol?.valueDeclaration
    const bound = symbol && bindings.get(symbol)
    if (!bound && declared && ts.isParameter(declared)) throw new OfCaller(declared)
    const made = this.#source.functionAt(bound ?? call.expression)
    if (made === null) throw new NotFollowed(`A fragment of a function that is not found: ${call.getText()}`)
    const known = new Map([...bindings, ...this.#bound(made.declaration, call)])
    if (!ts.isBlock(made.body)) return this.#fragment(made.body, known)
    const returned = [...nodesOf(made.body)].flatMap((node) =>
      ts.isReturnStatement(node) ? (node.expression ?? []) : [],
    )
    const chosen = returned.at(this.#side === 0 ? 0 : -1)
    if (!chosen) throw new NotFollowed(`A function that returns no fragment: ${call.getText()}`)
    return this.#fragment(chosen, known)
  }

  /** The value of a constant, or of a parameter as the caller gave it. */
  #named(node: ts.Identifier, bindings: Bindings, read: (value: ts.Expression) => string): string {
    const symbol = this.#source.symbolAt(node)
    const bound = symbol && bindings.get(symbol)
    if (bound) return read(bound)
    const declared = symbol?.valueDeclaration
    if (declared && ts.isParameter(declared)) throw new OfCaller(declared)
    if (declared && ts.isVariableDeclaration(declared) && declared.initializer) return read(declared.initializer)
    throw new NotFollowed(`Neither a constant nor a parameter: ${node.getText()}`)
  }

  /** A string that stands in the source, here or where a parameter was given it. */
  #literal(node: ts.Expression | undefined, bindings: Bindings): string {
    if (node && ts.isIdentifier(node)) return this.#named(node, bindings, (value) => this.#literal(value, bindings))
    if (node && ts.isStringLiteral(node)) return node.text
    if (node && ts.isTemplateExpression(node)) {
      const spans = node.templateSpans.map((span) => this.#literal(span.expression, bindings) + span.literal.text)
      return node.head.text + spans.join('')
    }
    throw new NotFollowed(`A text that is not followed: ${node?.getText()}`)
  }

  #parameterType(node: ts.Expression): Statement['parameters'][number] {
    const type = this.#source.checker.getTypeAtLocation(node)
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean'
    return type.getSymbol()?.name === 'Date' ? 'date' : 'unknown'
  }
}

/**
 * The rows that a statement gives as one list, `jsonb_agg(to_jsonb(page) - 'num') as items`, as a statement of their own
 * with the type of the list's elements. Null when it gives none.
 */
export function itemsOf({ checker }: Source, form: Statement): { form: Statement; removed: string[] } | null {
  const [, rows, without = ''] = /to_jsonb\((\w+)\)((?: - '\w+')*)/.exec(form.text) ?? []
  const list = checker.getPropertyOfType(form.row, 'items')
  if (!rows || !list) return null
  // A list that is refused is null.
  const items = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(list, form.at))
  const element = checker.getIndexTypeOfType(items, ts.IndexKind.Number)
  const argument = form.caller?.typeArguments?.[0]
  const isOfCaller = element && element.flags & ts.TypeFlags.TypeParameter && argument
  const row = isOfCaller ? checker.getTypeFromTypeNode(argument) : element
  if (!row) throw new Error(`${form.name}: what is the list of?`)
  const name = `${form.name}, items${argument ? ` of ${argument.getText()}` : ''}`
  const before = form.text.slice(0, lastSelect(form.text))
  const parameters = form.parameters.filter((_, index) => before.includes(`$${index + 1}`))
  const removed = [...without.matchAll(/'(\w+)'/g)].map(([, key]) => `${key}`)
  return { form: { ...form, name, row, parameters, text: `${before} select * from ${rows}` }, removed }
}

/** Where the statement's own `select` begins, after what stands in parentheses. */
function lastSelect(text: string): number {
  let depth = 0
  let last = -1
  for (const { 0: token, index } of text.matchAll(/[()]|\bselect\b/g)) {
    if (token === '(') depth += 1
    else if (token === ')') depth -= 1
    else if (depth === 0) last = index
  }
  return last
}
