/** The rules of contract section 13, pictures, files and fallbacks: a part of requirements.ts. */
export const parts = {
  'contract-13.errors': '400s of the deploy scope are objects that name the field.',
  'contract-13.fields':
    'Fields that change the answer go to providers that take them, else 400 names field and provider.',
  'contract-13.wrong-values': 'Wrong values are 400; null, false, n: 1 and empty arrays count as absent.',
  'contract-13.ignored': 'x-greenroom-ignored names what was sent and not used.',
  'contract-13.page-pictures':
    'A page of another origin gets addresses of stored parts that show them with access_token; PUBLIC_URL counts for everybody.',
  'contract-13.parts':
    'Pictures and files of user messages reach the model, in the order that they were sent, on every endpoint.',
  'contract-13.part-limits':
    '20 parts and 20 MiB a message (413), MAX_BODY_BYTES for the rest, 256 MiB held together (503).',
  'contract-13.part-refusals':
    'What is no part that is taken is 400, and names the field; bytes are checked against their type.',
  'contract-13.part-storage': 'Bytes are stored once a content, go with the last message, and are read back at url.',
  'contract-13.part-addresses':
    'https pictures are fetched once, by the outbound rule, after joins and busy sessions are answered.',
  'contract-13.part-identity': 'Wherever messages are compared parts count, by SHA-256 or by their address.',
  'contract-13.part-history':
    'Earlier turns send their parts again, newest first, within 20 MiB; of others the model is told.',
  'contract-13.part-providers':
    'A provider that takes no such part: 400 that names the agent; fallbacks are passed over.',
  'contract-13.structured': 'response_format, or the agent’s responseFormat, reaches each vendor in its own words.',
  'contract-13.fallbacks':
    'A call that fails before its first event goes to the next model; exactly the calls allowed.',
  'contract-13.fallback-names':
    'Each chunk names the model of its own turn, also when resumed; the stored reply the last one’s.',
  'contract-13.fallback-records':
    'Fallbacks are stored, checked, cleared, carried by name, and count as use of a provider.',
} as const
