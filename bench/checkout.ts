/** What is measured: a checkout of Greenroom. */
import { fileURLToPath } from 'node:url'

/** `name` null: the only one, which needs none. */
export type Checkout = { readonly name: string | null; readonly path: string }

/** The one that the bench lies in. */
export const ownCheckout: Checkout = { name: null, path: fileURLToPath(new URL('..', import.meta.url)) }
