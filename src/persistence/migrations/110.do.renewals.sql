-- A grant is renewed by one instance at a time, which holds no connection while it waits for the authorization server.
alter table mcp_connections add column renewal uuid; -- of the one that renews it
alter table mcp_connections add column renewal_ends timestamptz; -- another one may begin then
