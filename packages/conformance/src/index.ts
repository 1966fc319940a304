export { runCommand } from './command.ts'
export { Failure, Refusal } from './failures.ts'
export type { Adapter, End, Item, Message, SendOptions, Target, Verb } from './types.ts'
