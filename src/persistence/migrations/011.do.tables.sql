-- Greenroom's tables. Functions stand in files of their own (../replies/sql, ../records/sql).
-- Locks are always taken in the order instance, session, message.

-- ── what this database is ──────────────────────────────────────────────────────────────────────────────
-- The oldest version (number of its last migration) that still runs on these tables: during a rolling upgrade, and after
-- a way back, older instances start beside newer ones. A migration that takes away or changes what older versions use
-- raises it.
create table compatibility (
  only_row boolean primary key default true check (only_row),
  oldest   integer not null
);
insert into compatibility (oldest) values (11);

-- Which text of each function is in force: the highest revision that any version has brought.
create table definitions (
  name     text primary key,
  revision integer not null,
  checksum text not null
);

-- One row, made by the first start: installations that share one Redis keep out of each other's keys.
create table installation (
  only_row boolean primary key default true check (only_row),
  id       uuid not null default gen_random_uuid()
);

-- When each job is due next, for instances that agree through PostgreSQL alone.
create table jobs (
  name   text primary key,
  due_at timestamptz not null
);

-- ── instances ──────────────────────────────────────────────────────────────────────────────────────────
-- One row a process. Every write for a reply share-locks the row with the epoch that the process believes in;
-- declaring it lost raises the epoch, after which nothing of it can be stored.
create table instances (
  id          uuid primary key,
  epoch       bigint not null default 1,
  started_at  timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null,
  lost_at     timestamptz -- set when others declared it lost
);

-- Who asks which actors live elsewhere leaves a mark for each other instance, which answers here (contract section 8).
create table actor_reports (
  instance_id uuid primary key references instances on delete cascade,
  wanted_at   timestamptz not null,
  reported_at timestamptz,
  report      jsonb
);

-- ── configuration ──────────────────────────────────────────────────────────────────────────────────────
create table providers (
  id            uuid primary key default gen_random_uuid(),
  num           bigint generated always as identity,
  name          text not null,
  provider_type text not null,
  base_url      text,
  api_key       text, -- sealed, see persistence/records/secrets.ts
  api_key_hint  text,
  created_at    timestamptz not null default clock_timestamp(),
  updated_at    timestamptz not null default clock_timestamp(),
  constraint providers_name_unique unique (name)
);

create table prompts (
  id         uuid primary key default gen_random_uuid(),
  num        bigint generated always as identity,
  name       text not null,
  content    text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create table agents (
  id                uuid primary key default gen_random_uuid(),
  num               bigint generated always as identity,
  name              text not null,
  provider_id       uuid not null constraint agents_provider references providers,
  model             text not null,
  prompt_id         uuid constraint agents_prompt references prompts,
  generation_config jsonb not null default '{}',
  built_in_tool_ids text[] not null default '{}',
  created_at        timestamptz not null default clock_timestamp(),
  updated_at        timestamptz not null default clock_timestamp()
);
create index agents_by_provider on agents (provider_id);
create index agents_by_prompt on agents (prompt_id);

-- ── what agents may call, and which of it each agent may ──────────────────────────────────────────────
create table http_tools (
  id             uuid primary key default gen_random_uuid(),
  num            bigint generated always as identity,
  name           text not null,
  description    text not null,
  method         text not null check (method in ('GET', 'POST', 'PUT', 'DELETE', 'PATCH')),
  url            text not null,
  headers        json not null default '{}', -- of those with a secret the name only, see persistence/records/secret-headers.ts
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

-- One number for all that agents are configured with: whoever keeps an agent in memory can see that it is as it was.
create table configuration (
  only_row boolean primary key default true check (only_row),
  version  bigint not null default 1,
  xact     xid8 -- that raised it last: once a transaction
);
insert into configuration default values;

-- A trigger needs its function; what it does stands in records/sql, and is put in its place right after this file.
create function raise_configuration() returns trigger language plpgsql as $$ begin return null; end $$;

-- Deferred to the commit, so that the row is held for that long only, behind every other lock: what is written in any
-- order never deadlocks on it. The version and what it stands for become visible together.
create constraint trigger raise_configuration after insert or update or delete on agents
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on providers
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on prompts
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on agent_http_tools
  deferrable initially deferred for each row execute function raise_configuration();
create constraint trigger raise_configuration after insert or update or delete on agent_mcp_servers
  deferrable initially deferred for each row execute function raise_configuration();

-- ── conversations ──────────────────────────────────────────────────────────────────────────────────────
create table sessions (
  id         uuid primary key default gen_random_uuid(),
  num        bigint generated always as identity unique,
  agent_id   uuid not null constraint sessions_agent references agents on delete cascade,
  title      text,
  next_seq   bigint not null default 1, -- id of the next reply's first frame; ids never restart
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- A session wants a title when it has none and its first reply has ended (next_seq > 1). title_due_at says from when
  -- on it may be asked for: a claim moves it ahead, so that a claimer which died is succeeded; 'infinity' gives up.
  title_due_at   timestamptz not null default '-infinity',
  title_attempts smallint not null default 0
);
create index sessions_newest_first on sessions (agent_id, updated_at desc, num desc);
-- Sessions with a title are not in it: work is found without reading the others.
create index untitled_sessions on sessions (title_due_at, num)
  where title is null and next_seq > 1 and title_due_at < 'infinity';

create table messages (
  id          uuid primary key,
  session_id  uuid not null references sessions on delete cascade,
  position    integer not null, -- 0, 1, 2, … in the session
  role        text not null check (role in ('user', 'assistant')),
  status      text not null check (status in ('complete', 'streaming', 'error')),
  content     text not null default '', -- of a running reply: empty, its text is in frames
  finish_reason text check (finish_reason in ('stop', 'length', 'content_filter', 'cancelled', 'error')),
  created_at  timestamptz not null default clock_timestamp(),
  -- replies only, from here on
  session_num bigint,
  model       text,
  first_seq   bigint,
  frame_ends  integer[], -- where each text frame ends in content, in UTF-8 bytes; null while running
  tool_events jsonb,     -- [{seq, part, event}], null when there are none
  include_usage boolean,
  instance_id uuid,
  epoch       bigint,
  error_code  text,
  error_message text,
  error_detail  text,
  prompt_tokens integer,
  completion_tokens integer,
  usage_estimated boolean,
  ended_at    timestamptz,
  settled_at  timestamptz,
  requester_lost boolean, -- the connection that asked for the reply was gone before the end
  unique (session_id, position)
);
create unique index one_running_reply on messages (session_id) where status = 'streaming';
create index running_replies on messages (instance_id, epoch) where status = 'streaming';

-- The frames of replies that run. No foreign key: one deleted session must not lose a whole flush, and
-- session numbers are never reused. Settling folds them into the message; they are deleted soon after.
create table frames (
  session_num bigint not null,
  seq         bigint not null,
  part        smallint not null, -- 0: a numbered frame of text; 1…: tool events that lie after it
  event       text not null,     -- part 0: the text; else the event as JSON
  primary key (session_num, seq, part)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

create table idempotency_keys (
  session_id uuid not null references sessions on delete cascade,
  key        text not null,
  body_hash  bytea not null,
  reply_id   uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (session_id, key)
);

-- What others ask of the owner of a running reply. Rows outlive the session (no foreign key).
create table intents (
  id          bigint generated always as identity primary key,
  instance_id uuid not null,
  kind        text not null check (kind in ('cancel', 'delete')),
  session_id  uuid not null,
  reply_id    uuid,
  created_at  timestamptz not null default clock_timestamp()
);
create index intents_by_owner on intents (instance_id, id);

create table transitions (
  seq         bigint generated always as identity primary key,
  session_id  uuid not null references sessions on delete cascade,
  at          timestamptz not null,
  from_state  text not null,
  to_state    text not null,
  event       text not null,
  message_id  uuid,
  instance_id uuid not null,
  detail      jsonb not null default '{}'
);
create index transitions_by_session on transitions (session_id, seq);
create index transitions_by_time on transitions (at);

-- ── what was used ─────────────────────────────────────────────────────────────────────────────────────
-- What was used of models, as it is billed: every reply that ended, however it ended, stateless ones too. Rows outlive
-- sessions and agents (no foreign keys); after a week they are folded to one for each hour, agent and model.
create table token_usage (
  id                uuid primary key, -- the reply's: whoever writes it twice writes it once
  at                timestamptz not null,
  agent_id          uuid not null,
  model             text not null,
  replies           integer not null,
  prompt_tokens     bigint not null,
  completion_tokens bigint not null,
  estimated         boolean not null,
  folded            boolean not null default false
);
create index token_usage_by_time on token_usage (at);
create index token_usage_to_fold on token_usage (at) where not folded;

-- ── who may come in ────────────────────────────────────────────────────────────────────────────────────
create table secret_check (
  only_row boolean primary key default true check (only_row),
  sealed   text not null
);

create table logins (
  token_hash      bytea primary key, -- SHA-256 of the cookie; the cookie itself is nowhere
  username        text not null,
  credential_hash bytea not null,    -- of the credential it was made with; another one ends the login
  created_at      timestamptz not null default clock_timestamp(),
  seen_at         timestamptz not null default clock_timestamp()
);

create table login_failures (
  address  text not null,
  username text not null,
  at       timestamptz not null default clock_timestamp()
);
create index login_failures_by_address on login_failures (address, at);
