-- Greenroom's tables. Locks are always taken in the order instance, session, message.

-- ── instances ──────────────────────────────────────────────────────────────────────────────────────────
-- One row a process. Every write for a reply share-locks the row with the epoch that the process believes in;
-- declaring it lost raises the epoch, after which nothing of it can be stored.
create table instances (
  id          uuid primary key,
  epoch       bigint not null default 1,
  started_at  timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null
);

-- ── configuration ──────────────────────────────────────────────────────────────────────────────────────
create table providers (
  id            uuid primary key default gen_random_uuid(),
  num           bigint generated always as identity,
  name          text not null,
  provider_type text not null,
  base_url      text,
  api_key       text, -- sealed, see persistence/secrets.ts
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
  created_at        timestamptz not null default clock_timestamp(),
  updated_at        timestamptz not null default clock_timestamp()
);
create index agents_by_provider on agents (provider_id);
create index agents_by_prompt on agents (prompt_id);

-- ── conversations ──────────────────────────────────────────────────────────────────────────────────────
create table sessions (
  id         uuid primary key default gen_random_uuid(),
  num        bigint generated always as identity unique,
  agent_id   uuid not null constraint sessions_agent references agents on delete cascade,
  title      text,
  next_seq   bigint not null default 1, -- id of the next reply's first frame; ids never restart
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index sessions_newest_first on sessions (agent_id, updated_at desc, num desc);

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
-- session numbers are never reused. Settling folds them into the message and deletes them.
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
