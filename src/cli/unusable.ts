import { dirname } from 'node:path'

/** Throws in one line what is the matter with a file that was named on the command line. */
export const unusable = (what: 'read' | 'written', path: string) => (error: Error) => {
  if (what === 'written' && 'code' in error && error.code === 'ENOENT')
    throw new Error(`${path} cannot be written: there is no folder ${dirname(path)}.`)
  const [reason] = error.message.split(', ') // the rest repeats the path
  throw new Error(`${path} cannot be ${what} (${reason}).`)
}
