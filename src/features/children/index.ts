/** The door of children: all that the wires, the rest of http and other features use of it. */
export { idsBelow, listBelow, placeBelow } from './store/below.ts'
