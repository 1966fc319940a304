-- What happened in a reply (contract section 16): its figures, the notes between its transitions, what its model was sent.
-- Older versions run beside: they know nothing of it, and leave it alone.

-- Of a reply: {providerId, prompt, overrides} from its admission, {firstTokenMs, durationMs, attempts} from its
-- settlement. Null: it was made before this migration.
alter table messages add column facts jsonb;

-- A note tells what happened within a state: attempts, model turns, tool calls.
alter table transitions add column kind text not null default 'transition';
alter table transitions add constraint transitions_kind check (kind in ('transition', 'note')) not valid;

-- What each model turn was sent. `body` is JSON in which all that is stored elsewhere is a reference (sent-request.ts).
create table model_requests (
  session_id   uuid not null references sessions on delete cascade,
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

-- Figures of one reply; null where several are folded, or nothing was measured.
alter table token_usage
  add column first_token_ms integer,
  add column duration_ms    integer,
  add column failures       integer not null default 0;

-- What models cost, for whoever wants to see it: the UI's table of prices.
create table ui_settings (
  name  text primary key,
  value jsonb not null
);
