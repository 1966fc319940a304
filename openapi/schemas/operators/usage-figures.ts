/** The usage and cost of replies. */
import Type from 'typebox'
import { count, name, nullable, time } from '../basics.ts'

const percentiles = (what: string) =>
  Type.Object({
    p50: nullable(Type.Number({ description: `Milliseconds; half of the replies took less ${what}.` })),
    p95: nullable(Type.Number({ description: `Milliseconds; 95 of 100 replies took less ${what}.` })),
  })

export const UsageFigures = Type.Object(
  {
    from: time('Start of the period.'),
    to: time('End of the period, exclusive.'),
    rows: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: 'Id of an agent, a model name, or the start of an hour.' }),
          replies: count('Number of replies that ended.'),
          failures: count('Of them, those that failed.'),
          firstTokenMs: percentiles('to their first token'),
          durationMs: percentiles('to their end'),
          cost: nullable(Type.Number({ description: 'By the stored prices. Null when a model of it has none.' })),
        },
        { title: 'UsageFiguresRow' },
      ),
    ),
  },
  {
    title: 'UsageFigures',
    description:
      'Times are those of the last seven days; replies before that are counted by whole hours, without times.',
  },
)

const price = (what: string) =>
  Type.Number({ minimum: 0, maximum: 1_000_000, description: `For a million tokens ${what}.` })

export const ModelPrices = Type.Object(
  {
    currency: Type.String({ minLength: 1, maxLength: 8, description: 'As it is shown beside costs, such as `$`.' }),
    prices: Type.Array(
      Type.Object(
        {
          model: name('Model name.'),
          prompt: price('read'),
          completion: price('written'),
          cachedPrompt: Type.Optional(price('read from a cache; absent: as `prompt`')),
          cacheWrite: Type.Optional(price('written to a cache; absent: as `prompt`')),
        },
        { title: 'ModelPrice' },
      ),
      { maxItems: 500, description: 'At most one for each model.' },
    ),
  },
  { title: 'ModelPrices' },
)
