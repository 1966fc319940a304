/** The door of keys: all that the wires, the rest of http and other features use of it. */
export { badKey, isNamedKey, type KeyList } from './routes/key-list.ts'
export { managementKeyOf } from './routes/management-key.ts'
export { findKey, type KnownKey, lockKeysOf } from './store/keys.ts'
