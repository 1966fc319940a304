/** Files of undici that have no types: they are loaded early, not used. */
declare module 'undici/lib/*'
