/** The arguments of calls that wait, which are all that tells many calls of one tool apart. Pure. */
import { parsed } from '../blocks/messages/provider-error.ts'

/** Returns the arguments without their names: `{"city":"Paris","days":3}` is `Paris · 3`. What is no object stays as it is. */
export const givenTo = (calls: readonly { arguments: string }[]): string =>
  calls
    .flatMap((call) => valuesIn(call.arguments))
    .filter((value) => value !== '')
    .join(' · ')

function valuesIn(text: string): string[] {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [text]
  return Object.values(value).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}
