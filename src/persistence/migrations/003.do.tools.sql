-- What agents may call, and which of it each agent may.

create table http_tools (
  id             uuid primary key default gen_random_uuid(),
  num            bigint generated always as identity,
  name           text not null,
  description    text not null,
  method         text not null check (method in ('GET', 'POST', 'PUT', 'DELETE', 'PATCH')),
  url            text not null,
  headers        json not null default '{}', -- of those with a secret the name only, see persistence/secret-headers.ts
  secret_headers text,                       -- sealed: their values
  body           text,
  input_schema   json, -- not jsonb, which would forget the order of properties: models read them in order
  created_at     timestamptz not null default clock_timestamp(),
  updated_at     timestamptz not null default clock_timestamp()
);

create table mcp_servers (
  id             uuid primary key default gen_random_uuid(),
  num            bigint generated always as identity,
  name           text not null,
  transport      text not null check (transport in ('sse', 'streamable_http')),
  url            text not null,
  headers        json not null default '{}',
  secret_headers text,
  created_at     timestamptz not null default clock_timestamp(),
  updated_at     timestamptz not null default clock_timestamp()
);

-- Choices go with the agent, and with the tool. Who writes them locks the agent first, then the tools by id.
create table agent_http_tools (
  agent_id     uuid not null references agents on delete cascade,
  http_tool_id uuid not null references http_tools on delete cascade,
  place        integer not null,
  primary key (agent_id, http_tool_id)
);
create index agent_http_tools_by_tool on agent_http_tools (http_tool_id);

create table agent_mcp_servers (
  agent_id      uuid not null references agents on delete cascade,
  mcp_server_id uuid not null references mcp_servers on delete cascade,
  tool_names    text[] not null, -- {*}: every tool that the server offers
  place         integer not null,
  primary key (agent_id, mcp_server_id)
);
create index agent_mcp_servers_by_server on agent_mcp_servers (mcp_server_id);

alter table agents add column built_in_tool_ids text[] not null default '{}';
