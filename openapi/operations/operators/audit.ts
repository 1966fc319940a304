import { operations } from '../../operation.ts'
import { AuditEntryList, auditPage } from '../../schemas/operators/audit.ts'

export const audit = operations({
  listAuditEntries: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/audit',
    scope: 'management',
    loginAlone: true,
    summary: 'Who changed what, newest first',
    query: auditPage,
    responses: { 200: AuditEntryList },
  },
})
