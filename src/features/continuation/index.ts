/** The door of continuation: all that the wires, the rest of http and other features use of it. */
export { encodeStart } from './store/stored-turn.ts'
