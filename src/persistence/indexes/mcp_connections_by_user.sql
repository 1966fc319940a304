-- A user's connections with all agents.
create index concurrently mcp_connections_by_user on mcp_connections (end_user, created_at)
