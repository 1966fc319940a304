-- Sign-ins of users at MCP servers (contract section 27).
alter table mcp_servers add column auth text not null default 'none';
alter table mcp_servers add column oauth_client_id text;
alter table mcp_servers add column oauth_client_secret text; -- sealed

-- A question that is answered by a sign-in, not by a decision's content.
alter table waiting_questions add column sign_in boolean not null default false;

-- One grant for each user, agent and server.
create table mcp_connections (
  id            uuid primary key default gen_random_uuid(),
  agent_id      uuid not null references agents on delete cascade,
  end_user      text not null,
  mcp_server_id uuid not null references mcp_servers on delete cascade,
  sealed        text not null, -- tokens, and where they are refreshed
  scope         text,
  expires_at    timestamptz,   -- null: the token names no end
  created_at    timestamptz not null default clock_timestamp(),
  unique (agent_id, end_user, mcp_server_id)
);
create index mcp_connections_of_server on mcp_connections (mcp_server_id);

-- Clients that were registered dynamically, one for each server and issuer.
create table mcp_clients (
  id            uuid primary key default gen_random_uuid(),
  mcp_server_id uuid not null references mcp_servers on delete cascade,
  issuer        text not null,
  sealed        text not null,
  unique (mcp_server_id, issuer)
);

-- Sign-ins that browsers are on their way with. They go with their session.
create table mcp_sign_ins (
  id            uuid primary key default gen_random_uuid(),
  state_hash    bytea not null unique,
  browser_hash  bytea not null, -- of the cookie
  session_id    uuid not null references sessions on delete cascade,
  mcp_server_id uuid not null references mcp_servers on delete cascade,
  reply_id      uuid not null,  -- with place: the call
  place         integer not null,
  end_user      text not null,
  sealed        text not null,  -- verifier, and the authorization server as it was discovered
  expires_at    timestamptz not null default clock_timestamp() + interval '10 minutes'
);
create index mcp_sign_ins_of_session on mcp_sign_ins (session_id);
create index mcp_sign_ins_of_server on mcp_sign_ins (mcp_server_id);
create index mcp_sign_ins_by_end on mcp_sign_ins (expires_at);
