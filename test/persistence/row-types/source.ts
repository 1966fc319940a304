/** The sources as the TypeScript compiler reads them: what names stand for, and where functions are called. */
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../../support/quick-files.ts'

export class Source {
  readonly checker: ts.TypeChecker
  readonly files: readonly ts.SourceFile[]
  readonly #calls = new Map<ts.Symbol, ts.CallExpression[]>()

  constructor() {
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
    const include = ['src/persistence', 'src/features', 'src/http/wires', 'src/coordination']
    const { fileNames, options } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, root)
    const program = ts.createProgram(fileNames, options)
    this.checker = program.getTypeChecker()
    this.files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(root, 'src/')))
  }

  /** What a name stands for; of an import, what was imported. */
  symbolAt(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(node)
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol
  }

  /** The function that a name is declared as. */
  functionAt(node: ts.Node): { symbol: ts.Symbol; declaration: ts.SignatureDeclaration; body: ts.ConciseBody } | null {
    const symbol = this.symbolAt(node)
    const declared = symbol?.valueDeclaration
    const value = declared && ts.isVariableDeclaration(declared) ? declared.initializer : declared
    if (!symbol || !value || !(ts.isArrowFunction(value) || ts.isFunctionDeclaration(value)) || !value.body) return null
    return { symbol, declaration: value, body: value.body }
  }

  /** All calls of a function by its name. */
  callsOf(symbol: ts.Symbol): readonly ts.CallExpression[] {
    const known = this.#calls.get(symbol)
    if (known) return known
    const calls = this.files.flatMap((file) =>
      [...nodesOf(file)].filter(
        (node): node is ts.CallExpression =>
          ts.isCallExpression(node) &&
          ts.isIdentifier(node.expression) &&
          this.#mayBe(node.expression, symbol) &&
          this.symbolAt(node.expression) === symbol,
      ),
    )
    this.#calls.set(symbol, calls)
    return calls
  }

  /** Names are compared first: to look up a symbol costs more. No function here is imported under another name. */
  #mayBe = (name: ts.Identifier, symbol: ts.Symbol): boolean => name.text === symbol.name
}

export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node
  const children: ts.Node[] = []
  node.forEachChild((child) => void children.push(child))
  for (const child of children) yield* nodesOf(child)
}

/** The named function around a node, or null: `file.ts` alone then names the place. */
export function functionAround(node: ts.Node): ts.Identifier | null {
  for (let at = node.parent; at; at = at.parent) {
    if (ts.isFunctionDeclaration(at) && at.name) return at.name
    const isNamed = ts.isVariableDeclaration(at) && at.initializer && ts.isArrowFunction(at.initializer)
    if (ts.isVariableDeclaration(at) && isNamed && ts.isIdentifier(at.name)) return at.name
  }
  return null
}
