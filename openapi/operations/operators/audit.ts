import Type from 'typebox'
import { operations } from '../../operation.ts'
import { AuditEntryList, AuditFeed, auditPage } from '../../schemas/operators/audit.ts'

export const audit = operations({
  listAuditEntries: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/audit',
    scope: 'management',
    role: 'admin',
    keyScope: 'audit:read',
    summary: 'Who changed what, newest first',
    description: 'With `after` it is collected: nobody who follows `next` misses an entry or is given it twice.',
    query: auditPage,
    responses: { 200: Type.Union([AuditEntryList, AuditFeed]) },
  },
})
