-- Decisions that are remembered for a session, or (session_id null) for a user with an agent.
create table remembered_decisions (
  id         uuid primary key,
  num        bigint generated always as identity, -- the newest last
  agent_id   uuid not null references agents on delete cascade,
  session_id uuid references sessions on delete cascade,
  end_user   text,
  tool       text not null, -- key of its identity
  record_id  uuid,          -- HTTP tool or MCP server; null: a built-in tool
  name       text not null, -- in the call that was decided
  decision   text not null check (decision in ('approve', 'reject')),
  arguments  text,          -- JSON object of the names and values that a call must have; null: any. Not jsonb, which keeps no digits
  reach      bytea not null, -- hash of tool and arguments by their values
  reason     text,
  by_secret  boolean not null,
  decided_by text,
  created_at timestamptz not null default clock_timestamp()
);
create unique index remembered_by_session on remembered_decisions (session_id, reach) where session_id is not null;
create unique index remembered_by_user on remembered_decisions (agent_id, end_user, reach) where session_id is null;
create index remembered_by_agent on remembered_decisions (agent_id);
create index remembered_by_record on remembered_decisions (record_id) where record_id is not null;

-- The decisions that are remembered of a tool go with its record, and when that moves to another origin.
create function forget_decisions() returns trigger language plpgsql as $$
begin
  delete from remembered_decisions d where d.record_id = old.id;
  return null;
end $$;
create trigger forget_decisions after delete on http_tools for each row execute function forget_decisions();
create trigger forget_decisions after delete on mcp_servers for each row execute function forget_decisions();
create trigger forget_moved_decisions after update of url on http_tools for each row
  when (lower(substring(old.url from '^[^:]*://[^/?#]*')) is distinct from lower(substring(new.url from '^[^:]*://[^/?#]*')))
  execute function forget_decisions();
create trigger forget_moved_decisions after update of url on mcp_servers for each row
  when (lower(substring(old.url from '^[^:]*://[^/?#]*')) is distinct from lower(substring(new.url from '^[^:]*://[^/?#]*')))
  execute function forget_decisions();
