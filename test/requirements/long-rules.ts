import type { RequirementId } from './requirements.ts'

/** Rules that only clusters, killed processes, browsers or clients of others can prove: the long tier's own. */
export const longRules: ReadonlySet<RequirementId> = new Set<RequirementId>([
  'contract-1.workers',
  'contract-7.any-instance',
  'contract-10.renewal',
  'contract-10.signals',
  'contract-11.pages',
  'contract-12.clients',
  'contract-12.examples',
  'contract-14.pages',
  'contract-15.pages',
  'contract-19.divider',
  'contract-21.database',
  'contract-22.webhook-crash',
  'contract-26.move',
  'contract-27.question-crash',
  'contract-28.workbench',
  'contract-29.busy-machine',
  'contract-29.schedules',
  'contract-30.pages',
  'contract-31.search-pages',
  'contract-32.surface',
  'contract-33.pages',
  'contract-34.adapters',
  'contract-34.finds',
])
