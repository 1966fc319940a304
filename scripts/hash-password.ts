/** Prints the hash of a password for AUTH_CREDENTIALS. The password is the first line of standard input. */
import { exit, stdin } from 'node:process'
import { createInterface } from 'node:readline'
import { hashPassword } from '../src/http/management/password.ts'

if (stdin.isTTY) console.error('Password (it is shown while you type):')
const { value, done } = await createInterface({ input: stdin })[Symbol.asyncIterator]().next()
if (done || value === '') {
  console.error('No password on standard input.')
  exit(1)
}
console.log(await hashPassword(value))
exit(0)
