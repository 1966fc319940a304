/** Lets every promise that can go on do so. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))
