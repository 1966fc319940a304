/** Which statements a client has executed, read from what it sends to PostgreSQL. */

/** Reads the texts of the statements that a chunk executes. A connection is known by an object of its own. */
export function createStatementReader(): (bytes: Buffer, connection: object) => string[] {
  const prepared = new WeakMap<object, Map<string, string>>()
  return (bytes, connection) => {
    const known = prepared.get(connection) ?? new Map<string, string>()
    prepared.set(connection, known)
    const executed: string[] = []
    // A chunk is whole messages: a type, the length of the rest with itself, the rest. The first of a connection has no type.
    for (let at = 0; bytes[at] !== 0 && at + 5 <= bytes.length; ) {
      const type = String.fromCharCode(bytes[at] ?? 0)
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      const [first = '', second = ''] = bytes.toString('latin1', at + 5, end).split('\0', 2)
      if (type === 'P') known.set(first, second)
      if (type === 'B') executed.push(known.get(second) ?? '')
      if (type === 'Q') executed.push(first)
      at = end
    }
    return executed
  }
}
