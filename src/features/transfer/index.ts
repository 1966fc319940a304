/** The door of transfer: all that the wires, the rest of http and other features use of it. */
export { holdImports } from './store/transfer.ts'
