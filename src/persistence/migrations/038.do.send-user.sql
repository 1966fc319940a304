-- Whether calls of an MCP server's tools tell it the session and its user.
alter table mcp_servers add column send_user boolean not null default false;
