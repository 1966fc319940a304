/** Tests that name the rule they keep: `verifies('contract-4.busy', 'a second message gets 409', async () => …)`. */
import { type TestOptions, test } from 'vitest'
import { type RequirementId, requirements } from './requirements/requirements.ts'

/**
 * A vitest test whose name begins with the rule's id. Several ids are separated by spaces in the test's name. What
 * passed is counted after a whole run: test/support/after-whole-run.ts.
 */
export function verifies(
  rule: RequirementId | readonly RequirementId[],
  name: string,
  run: () => unknown,
  options: TestOptions = {},
): void {
  const ids = typeof rule === 'string' ? [rule] : rule
  for (const id of ids) if (!(id in requirements)) throw new Error(`there is no requirement ${id}`)
  test(`[${ids.join(' ')}] ${name}`, { ...options, meta: { rules: ids } }, async () => {
    await run()
  })
}
