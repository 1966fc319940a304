/** The door of children: all that the wires, the rest of http and other features use of it. */
export { type CalledSession, childOf } from './called-session.ts'
export { idsBelow, listBelow, placeBelow } from './store/below.ts'
