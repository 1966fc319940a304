/** Input and output of a command. */
export interface Terminal {
  /** Writes a line to standard output: results. */
  out(line: string): void
  /** Writes a line to standard error: everything else. */
  err(line: string): void
  /** Reads the first line of standard input; null if there is none. */
  ask(question: string): Promise<string | null>
}
