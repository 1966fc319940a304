/** The rules of contract section 27 on MCP servers that ask, sign in or are missing: a part of requirements.ts. */
export const mcp = {
  'contract-27.missing-reasons':
    'A server without a list of tools is missing, for one reason: unreachable, unauthorized, invalid, no_user or no_value.',
  'contract-27.missing-record':
    'The message carries missing_tools before its first content, and is that of the instance that ended the reply; the trace too.',
  'contract-27.missing-header':
    'An answer that is not streamed names them in x-greenroom-missing-tools; a streamed one, and one without, has no such header.',
  'contract-27.missing-prompt':
    'The last line of the system prompt names them, in order, in all model calls; nothing missing changes nothing.',
  'contract-27.on-missing-tools':
    'onMissingTools fail ends the reply before any call: error tools_unavailable, 500 that is not tried again.',
  'contract-27.header-names':
    'A header of an MCP server takes values of the session; any other name, an unclosed one, or one in url is 400.',
  'contract-27.header-values':
    'Values are filled in for every request; lists and connections are apart for each set; a missing value makes the server missing.',
  'contract-27.header-metadata': 'A client secret may not set metadata that such a header names: 403.',
} as const
