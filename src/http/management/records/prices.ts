/** What models cost, for the UI's cost column. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readPrices, writePrices } from '../../../persistence/records/prices.ts'
import { badRequest } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

export const priceHandlers = ({ sql }: { sql: Sql }) =>
  ({
    getPrices: () => readPrices(sql),
    replacePrices: async ({ body }) => {
      const models = body.prices.map(({ model }) => model)
      const twice = models.find((model, index) => models.indexOf(model) !== index)
      if (twice !== undefined) badRequest(`prices: ${JSON.stringify(twice)} is there twice`)
      await writePrices(sql, body)
      return body
    },
  }) satisfies Handlers<'prices'>
