/** What models cost, for the UI's cost column. */

import { recordChange } from '../../../features/audit/routes/record-change.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readPrices, writePrices } from '../../../persistence/records/prices.ts'
import { badRequest } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

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
