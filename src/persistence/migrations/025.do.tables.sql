-- Greenroom's tables. Functions stand in files of their own beside their callers (../replies), those of triggers here.
-- Locks are always taken in the order instance, session, message.

-- ── what this database is ──────────────────────────────────────────────────────────────────────────────
-- The oldest version (number of its last migration) that still runs on these tables: during a rolling upgrade, and after
-- a way back, older instances start beside newer ones. A migration that takes away or changes what older versions use
-- raises it.
create table compatibility (
  only_row boolean primary key default true check (only_row),
  oldest   integer not null
);
insert into compatibility (oldest) values (25);

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
-- A lease is a number that each renewal raises: a judge of an owner asks whether the number has changed, by a clock of its
-- own. No statement compares clocks.
create table instances (
  id          uuid primary key,
  epoch       bigint not null default 1,
  lease       bigint not null default 0,
  started_at  timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null default clock_timestamp(), -- for people only: when the newest renewal runs out
  lost_at     timestamptz -- set when others declared it lost
);
-- Makes the epoch part of a key: a raise of it locks the row against `for key share`, the fence in every write for a reply,
-- and a renewal does not. With `for share` five seconds of waiting admissions kept an instance from renewing. A full index
-- (neither partial nor with the epoch merely included): only such a one counts for the lock.
create unique index instances_by_epoch on instances (id, epoch);

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
  approvals         jsonb not null default '[]', -- names of tools whose calls need approval, or "*"
  response_format   json, -- not jsonb, which would forget the order of a schema's properties
  allowed_origins   text[] not null default '{}', -- web pages of these may call the agent's deploy API
  created_at        timestamptz not null default clock_timestamp(),
  updated_at        timestamptz not null default clock_timestamp()
);
create index agents_by_provider on agents (provider_id);
create index agents_by_prompt on agents (prompt_id);

-- Other models that an agent's replies may come from.
create table agent_fallbacks (
  agent_id    uuid not null references agents on delete cascade,
  place       smallint not null, -- 0, 1, 2: the order in which they are asked
  provider_id uuid not null constraint agent_fallbacks_provider references providers,
  model       text not null,
  primary key (agent_id, place)
);
create index agent_fallbacks_by_provider on agent_fallbacks (provider_id);

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

-- The version rises once a transaction, when anything changes that agents are configured with.
create function raise_configuration() returns trigger language plpgsql as $$
begin
  update configuration set version = version + 1, xact = pg_current_xact_id()
   where xact is distinct from pg_current_xact_id();
  return null;
end $$;

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
create constraint trigger raise_configuration after insert or update or delete on agent_fallbacks
  deferrable initially deferred for each row execute function raise_configuration();

-- ── conversations ──────────────────────────────────────────────────────────────────────────────────────
create table sessions (
  id         uuid primary key default gen_random_uuid(),
  num        bigint generated always as identity unique,
  agent_id   uuid not null constraint sessions_agent references agents on delete cascade,
  title      text,
  end_user   text, -- whose conversation it is; null: the caller named nobody (`user` is a word of SQL's own)
  metadata   jsonb not null default '{}', -- what its caller notes about it
  -- The newest reply's status, kept where lists of all sessions find it. Admission and settlement set it.
  status     text not null default 'idle',
  error_code text, -- the newest reply's, when it failed
  head       integer, -- position of the path's last message; null: there are no branches, it is the newest one
  forked_from jsonb, -- {session_id, message_id, frame_id}; outlives that session
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

-- A conversation is a tree. One straight line is stored as nulls alone.
create table messages (
  id          uuid primary key,
  session_id  uuid not null references sessions on delete cascade,
  position    integer not null, -- 0, 1, 2, … in the session
  role        text not null check (role in ('user', 'assistant')),
  status      text not null check (status in ('complete', 'streaming', 'error')),
  content     text not null default '', -- of a running reply: empty, its text is in frames
  finish_reason text check (finish_reason in ('stop', 'length', 'content_filter', 'cancelled', 'tool_calls', 'error')),
  created_at  timestamptz not null default clock_timestamp(),
  parent       integer, -- position of the message before it on its path; -1: it is a first one; null: position - 1
  line         integer, -- where the run of messages begins that each follow the position before; null: 0
  lines_before integer[], -- of a message that begins a line: the lines before it, oldest first, each as its first and its
                          -- last position, the newest 64 at most; null: none is before it, or it begins no line
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
  -- What a model thought before it answered, for replies that were asked to show it. A frame of reasoning is a frame of empty
  -- text with its reasoning beside it, and so it is in frame_ends.
  reasoning        text,      -- null: not asked for, or none came
  reasoning_frames integer[], -- which of the reply's numbered frames (1, 2, 3, …: places in frame_ends) it came in
  reasoning_ends   integer[], -- where each of these ends in it, in UTF-8 bytes
  reasoning_ms     integer,   -- how long the model thought; null: not known
  -- {providerId, prompt, overrides} from the admission, {firstTokenMs, durationMs, attempts} from the settlement.
  facts          jsonb,
  asked_place    jsonb, -- where its request wanted it (find_place.sql); null: after the head
  shown_calls    jsonb, -- of a reply that waits: the calls in the frame before its finish; null: there is none
  continues      uuid,  -- of a reply that decisions started: the one before, which waited
  decisions_hash bytea, -- likewise: what was sent, to know a retry by
  unique (session_id, position)
);
create unique index one_running_reply on messages (session_id) where status = 'streaming';
create index running_replies on messages (instance_id, epoch) where status = 'streaming';

-- The frames of replies that run. A flush is one row, whatever it holds: a row and an index entry a frame, and their
-- deletion, were three quarters of the WAL that a token wrote. Settling folds the frames into the message; they are deleted
-- soon after. No foreign keys: one deleted session must not lose a whole flush.
create table flushes (
  instance_id  uuid not null,
  epoch        bigint not null,
  num          bigint not null, -- rises from flush to flush
  -- One element a frame, in all four alike.
  session_nums bigint[] not null, -- session numbers are never reused
  seqs         bigint[] not null,
  parts        smallint[] not null, -- 0: a numbered frame of text; -1: one of reasoning; 1…: events that lie after it
  texts        text[] not null,     -- 1…: the event as JSON
  primary key (instance_id, epoch, num)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- What replies that run for longer said before: moved here from the flushes, so that these stay few (move_frames).
create table frame_runs (
  session_num bigint not null,
  seq         bigint not null, -- of its first frame
  part        smallint not null,
  seqs        bigint[] not null,
  parts       smallint[] not null,
  texts       text[] not null,
  primary key (session_num, seq, part)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

create table idempotency_keys (
  session_id uuid not null references sessions on delete cascade,
  key        text not null,
  body_hash  bytea not null,
  reply_id   uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (session_id, key)
);

-- Every call that ever waited, with what became of it.
create table waiting_calls (
  reply_id   uuid not null references messages on delete cascade, -- that asked
  place      integer not null,                                    -- among all calls of that reply, from 1
  session_id uuid not null,                                       -- goes with its reply: a key of its own would need an index
  call_id    text not null, -- as decisions name it
  name       text not null,
  arguments  text not null,
  kind       text not null check (kind in ('approval', 'caller')),
  asked_at   timestamptz not null default clock_timestamp(),
  open       boolean not null default true, -- false: decided, or never will be
  decision   text check (decision in ('approve', 'reject', 'respond')),
  decided_at timestamptz,
  decided_by text,    -- login name or end user; null: nobody named
  decided_in uuid,    -- the reply that the decision started; no foreign key: it may be deleted
  decided_arguments text, -- instead of `arguments`
  output     text,    -- respond
  reason     text,    -- reject
  begun      boolean not null default false, -- approve: it may have taken effect
  ok         boolean, -- approve: null, no result was stored
  content    text,
  duration_ms integer,
  primary key (reply_id, place)
);
create index waiting_calls_open on waiting_calls (session_id) where open;

-- What the next reply of a session that waits needs of the one before: one row for each session that waits.
create table waits (
  session_id uuid primary key references sessions on delete cascade,
  reply_id   uuid not null, -- that waits
  carried    text not null -- JSON as `Carried` in waiting-calls.ts. Not jsonb, which takes no U+0000
);

-- Pictures and files of messages. Their bytes are stored once a content, in pieces, apart from the messages that refer to
-- them, and go with the last of these.
create table part_contents (
  sha256 bytea primary key,
  size   integer not null -- of all its pieces, in bytes
);

create table part_pieces (
  sha256 bytea not null references part_contents on delete cascade,
  n      integer not null, -- 0, 1, 2, …
  bytes  bytea not null,
  primary key (sha256, n)
);
alter table part_pieces alter column bytes set storage external; -- pictures do not get smaller

-- A request that is about to refer to a content keeps it until its message is stored, or refused.
create table part_uploads (
  id     uuid not null, -- of the request
  sha256 bytea not null references part_contents,
  at     timestamptz not null default clock_timestamp(),
  primary key (id, sha256)
);
create index part_uploads_by_content on part_uploads (sha256);

create table message_parts (
  session_id uuid not null references sessions on delete cascade,
  message_id uuid not null,
  n          smallint not null, -- 0, 1, 2, …: the order in which they were sent
  type       text not null,     -- image_url, file
  sha256     bytea not null references part_contents,
  media_type text not null,
  filename   text,
  size       integer not null,
  detail     text,              -- as image_url has it
  source_url text,              -- where it was fetched from; null: its bytes were sent
  text_place integer not null,  -- how much of the message's text stands before it, in UTF-16 code units
  primary key (message_id, n)
);
create index message_parts_by_session on message_parts (session_id);
create index message_parts_by_content on message_parts (sha256);

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

-- ── what happened in replies ──────────────────────────────────────────────────────────────────────────
-- Steps have no primary key, since nothing looks for one by its number alone: that index was a twentieth of the WAL that a
-- short reply writes. Where a publication for logical replication takes the table along, a row is named by all its columns.
create table transitions (
  seq         bigint generated always as identity,
  session_id  uuid not null,
  at          timestamptz not null,
  kind        text not null default 'transition'
                constraint transitions_kind check (kind in ('transition', 'note')), -- a note: within a state
  from_state  text not null,
  to_state    text not null,
  event       text not null,
  message_id  uuid,
  instance_id uuid not null,
  detail      jsonb not null default '{}'
);
alter table transitions replica identity full;
create index transitions_by_session on transitions (session_id, seq);
create index transitions_by_time on transitions (at);

-- What each model turn was sent. `body` is JSON in which all that is stored elsewhere is a reference (request-writer.ts).
create table model_requests (
  session_id   uuid not null,
  message_id   uuid not null,
  turn         smallint not null, -- 1, 2, 3, …
  at           timestamptz not null,
  provider_id  uuid not null,
  model        text not null,
  body         text not null,
  history_from integer, -- position of the first stored message that was sent; null: not known
  primary key (session_id, message_id, turn)
);
-- For the retention: rows come in the order of time, and this index costs next to nothing.
create index model_requests_by_time on model_requests using brin (at);

-- Prompts and tool definitions as they were sent, once each. What no request has used for as long as requests are kept
-- is deleted.
create table request_texts (
  hash    bytea primary key, -- SHA-256
  content text not null,
  used_at timestamptz not null default clock_timestamp() -- to the day
);

-- A foreign key of both would look at the session once more for each row, which was a tenth of PostgreSQL's time for them.
-- The writer locks their sessions itself and leaves out those that are gone (transitions.ts); what sessions leave behind
-- when they are deleted goes by a trigger, for all that one statement deletes.
create function forget_steps() returns trigger language plpgsql
-- How many sessions there are is not known when this is planned; both tables may be large, and are entered by their keys.
-- (What is off must not be compiled, see admit_messages.)
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
begin
  delete from transitions t using gone g where t.session_id = g.id;
  delete from model_requests r using gone g where r.session_id = g.id;
  return null;
end $$;
create trigger forget_steps after delete on sessions referencing old table as gone
  for each statement execute function forget_steps();

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
  folded            boolean not null default false,
  -- Figures of one reply; null where several are folded, or nothing was measured.
  first_token_ms    integer,
  duration_ms       integer,
  failures          integer not null default 0
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

-- Numbers every client secret and every revocation, in one order: a secret whose number lies below its user's newest
-- revocation is refused. Whoever takes a number later has a higher one, whatever the clocks of the instances say.
create sequence client_secret_numbers;

-- Users whose secrets were revoked. Instances poll it; a row is of no use once its secrets have expired (two hours).
create table revocations (
  agent_id   uuid not null references agents on delete cascade,
  end_user  text not null,
  number     bigint not null,
  -- Of the transaction that wrote the row: numbers become visible out of order, so the poll asks for all that may have
  -- been committed since its last snapshot.
  xact       xid8 not null default pg_current_xact_id(),
  revoked_at timestamptz not null default clock_timestamp(),
  primary key (agent_id, end_user)
);
create index revocations_by_xact on revocations (xact);
create index revocations_by_time on revocations (revoked_at);

-- ── what the pages keep ────────────────────────────────────────────────────────────────────────────────
create table ui_settings (
  name  text primary key, -- what models cost: the UI's table of prices
  value jsonb not null
);
