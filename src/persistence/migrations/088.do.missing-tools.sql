-- The fate of a reply when an MCP server gives no list of tools (contract section 27).
alter table agents add column on_missing_tools text not null default 'tell' check (on_missing_tools in ('tell', 'fail'));
