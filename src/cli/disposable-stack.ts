/** Node.js 22 has `Symbol.asyncDispose` but no `AsyncDisposableStack`: the part of it that we use. */

class Stack {
  #release: (() => unknown)[] = []

  defer(release: () => unknown): void {
    this.#release.push(release)
  }

  use<T extends Disposable | AsyncDisposable>(value: T): T {
    this.defer(() => (Symbol.asyncDispose in value ? value[Symbol.asyncDispose]() : value[Symbol.dispose]()))
    return value
  }

  /** Disposes of all of them in reverse order; rejects with the last failure. */
  async disposeAsync(): Promise<void> {
    let failed: { error: unknown } | null = null
    for (let next = this.#release.pop(); next !== undefined; next = this.#release.pop()) {
      try {
        await next()
      } catch (error) {
        failed = { error }
      }
    }
    if (failed) throw failed.error
  }
}

if (!('AsyncDisposableStack' in globalThis)) Object.assign(globalThis, { AsyncDisposableStack: Stack })
