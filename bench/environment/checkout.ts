/** A checkout of Greenroom to measure. */
import { fileURLToPath } from 'node:url'

/** `name` is null when it is the only one. */
export type Checkout = { readonly name: string | null; readonly path: string }

/** The checkout of the bench itself. */
export const ownCheckout: Checkout = { name: null, path: fileURLToPath(new URL('../..', import.meta.url)) }
