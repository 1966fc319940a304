import { expect } from 'vitest'
import { listOfItems } from '../../../../src/http/wires/responses/output/item-list.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-24.conversations', 'a page ends behind 8 MiB, and says that there are more', async () => {
  const items = ['a', 'b', 'c', 'd'].map((id) => ({ id, text: 'x'.repeat(4 * 2 ** 20) }))
  const page = async (query: { after?: string }) => {
    const { data, has_more } = await listOfItems(items, { limit: 100, ...query })
    return [data.map(({ id }) => id), has_more]
  }
  expect(await page({})).toEqual([['a', 'b'], true])
  expect(await page({ after: 'b' })).toEqual([['c', 'd'], false])
})
