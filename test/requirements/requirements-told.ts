/** The rules of contract section 22 about webhooks and lists that live: a part of requirements.ts. */
export const told = {
  'contract-22.webhooks':
    'Webhooks are a resource; the secret is in the answer to their creation alone, or to its replacement.',
  'contract-22.webhook-agents': 'A deleted agent is taken out of agentIds, and an empty list means none.',
  'contract-22.webhook-events':
    'Each reply that ends is one event, however it ends; a deleted session is one that names it alone, and none for a reply that goes with it.',
  'contract-22.webhook-enabled': 'While a webhook is not enabled nothing is recorded, and pending tries stop.',
  'contract-22.webhook-signatures': 'Deliveries follow Standard Webhooks; the newest two secrets sign for 24 hours.',
  'contract-22.webhook-retries':
    'What is not answered 2xx within 15 s is tried again, seven times; no redirect is followed; 410 disables.',
  'contract-22.webhook-isolation': 'One slow receiver holds up no other.',
  'contract-22.webhook-crash':
    'Every event that is stored is delivered at least once, whatever dies; none is delivered that is not stored.',
  'contract-22.webhook-test': 'A test sends ping once and says what came of it.',
  'contract-22.webhook-deliveries': 'Deliveries are listed, kept for 30 days and delivered again on request.',
  'contract-22.webhook-cost': 'Without webhooks a reply writes no row more and takes no statement more.',
  'contract-22.session-stream':
    'A stream tells each change of a session, on any instance, with its status and queue; and deletions.',
  'contract-22.session-stream-ids':
    'Ids rise in the order of commits; behind the x-last-event-id of a list, and behind any id, nothing is missing.',
  'contract-22.session-stream-access':
    'The key follows all sessions or those of a user, a client secret those of its user, until it expires; with session_id: 403.',
  'contract-22.client': '@greenroom/client follows sessions and verifies deliveries.',
} as const
