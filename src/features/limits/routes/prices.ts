/** The prices of models, for the UI's cost column. */

import { badRequest } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { recordChange } from '../../audit/index.ts'
import { readPrices, writePrices } from '../store/prices.ts'

export const priceHandlers = ({ sql }: { sql: Sql }) =>
  ({
    getPrices: () => readPrices(sql),
    replacePrices: async ({ body, request }) => {
      const models = body.prices.map(({ model }) => model)
      const twice = models.find((model, index) => models.indexOf(model) !== index)
      if (twice !== undefined) badRequest(`prices: ${JSON.stringify(twice)} is there twice`)
      return await recordChange(
        sql,
        request,
        'prices',
        async (tx) => {
          const before = await readPrices(tx)
          await writePrices(tx, body)
          return { before, after: body, result: body }
        },
        { id: 'prices', name: 'prices' },
      )
    },
  }) satisfies Handlers<'prices'>
