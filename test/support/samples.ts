/**
 * Returns the number of repetitions of a random test. A run takes few samples, with another seed each time; the nightly
 * run sets THOROUGH=1 and takes as many as the rule was once proved with.
 */
export const samples = (usual: number, thorough: number): number =>
  process.env.THOROUGH === undefined ? usual : thorough
