-- The keys that the MCP face gives to calls of the revisions of 2025, by which their cancels find the reply. Others are
-- not in it, so that messages do not pay for it.
create index concurrently idempotency_keys_of_mcp_calls on idempotency_keys (key) where key like 'mcp-%'
