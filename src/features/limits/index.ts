/** The door of limits: all that the wires, the rest of http and other features use of it. */
export {
  type CallerLimits,
  countsOf,
  limitsInForce,
  rateHeaderNames,
  rateHeaders,
  refuseOver,
} from './routes/caller-limits.ts'
export { asCountedRequest } from './routes/counted-request.ts'
export { inItsPlaces } from './routes/held-place.ts'
export { givenLimits } from './routes/limit-input.ts'
export { withPriceWarning } from './routes/price-warning.ts'
export { type LimitDependencies, limitStateless } from './routes/stateless-limits.ts'
export { useOfKey, useOfUsers } from './store/limit-use.ts'
