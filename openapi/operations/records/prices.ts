import { operations } from '../../operation.ts'
import { ModelPrices } from '../../schemas/operators/usage-figures.ts'

const path = '/api/v1/settings/prices'

export const prices = operations({
  getPrices: {
    method: 'get',
    path,
    scope: 'management',
    role: 'viewer',
    summary: 'Read what models cost',
    responses: { 200: ModelPrices },
  },
  replacePrices: {
    method: 'put',
    path,
    scope: 'management',
    role: 'admin',
    summary: 'Replace what models cost',
    body: ModelPrices,
    responses: { 200: ModelPrices },
  },
})
