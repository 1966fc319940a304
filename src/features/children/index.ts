/** The door of children: all that the wires, the rest of http and other features use of it. */
export { listBelow } from './store/below.ts'
