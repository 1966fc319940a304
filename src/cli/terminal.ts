/** Input and output of a command. */
export interface Terminal {
  /** A line for standard output: results. */
  out(line: string): void
  /** A line for standard error: everything else. */
  err(line: string): void
  /** The first line of standard input; null if there is none. */
  ask(question: string): Promise<string | null>
}
