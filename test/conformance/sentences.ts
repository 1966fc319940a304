/** The rules that Greenroom proves with each check of the suite: a check is their sentence, seen from outside. */
import type { CheckId } from '../../packages/conformance/src/checks/index.ts'
import type { RequirementId } from '../requirements/requirements.ts'

export const sentences: Record<CheckId, readonly RequirementId[]> = {
  'stream.whole': ['spec-6.1.order'],
  'stream.one-end': ['spec-6.1.order'],
  'stream.unicode-split': ['contract-4.clean-text'],
  'stream.large': ['spec-6.1.order'],
  'stream.slow-reader': ['contract-4.stored-before-shown'],
  'stream.failing-model': ['contract-3.error-chunk', 'spec-3.status'],
  'stream.reader-leaves': ['contract-4.resume'],
  'resume.every-position': ['contract-4.resume', 'spec-4.12.reconnect'],
  'resume.two-readers': ['contract-4.resume'],
  'resume.after-end': ['contract-4.resume', 'spec-4.12.reconnect'],
  'resume.unknown-position': ['contract-4.resume'],
  'remove.readers-end': ['contract-4.delete', 'spec-4.12.delete'],
  'status.one-of-each': ['spec-3.status'],
  'status.cancelled': ['contract-4.cancel'],
  'retry.joins': ['contract-4.idempotency'],
  'retry.other-body': ['contract-4.idempotency'],
  'busy.nothing-lost': ['contract-4.busy'],
  'cancel.other-connection': ['contract-4.cancel', 'spec-4.12.cancel'],
  'durable.shown-is-stored': ['contract-4.stored-before-shown', 'contract-1.embedded'],
  'durable.settles': ['contract-4.owner-lost'],
  'durable.no-second-call': ['contract-4.owner-lost', 'contract-21.default'],
  'durable.takes-messages': ['contract-4.owner-lost', 'contract-1.embedded'],
  'durable.retry-after-kill': ['contract-4.idempotency'],
  'cluster.follow-elsewhere': ['contract-7.follow', 'contract-7.any-instance'],
  'cluster.cancel-elsewhere': ['contract-7.cancel', 'contract-7.any-instance'],
  'cluster.kill-owner': ['contract-4.owner-lost', 'contract-4.stored-before-shown'],
}
