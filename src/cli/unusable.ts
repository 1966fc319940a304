/** Throws in one line what is the matter with a file that was named on the command line. */
export const unusable = (what: 'read' | 'written', path: string) => (error: Error) => {
  const [reason] = error.message.split(', ') // the rest repeats the path
  throw new Error(`${path} cannot be ${what} (${reason}).`)
}
