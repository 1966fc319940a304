-- What a running reply needs to go on in another instance. Deleted when it ends.
create table reply_turns (
  reply_id uuid not null references messages on delete cascade deferrable initially deferred, -- a reply's first row may come first
  n        integer not null, -- 0: what the reply that it continues has left to it; 1, 2, …: its turns of calls
  body     text not null,    -- stored-turn.ts, stored-carried.ts
  primary key (reply_id, n)
);

-- Running replies that their owner gives away: it does nothing more for them, and all that it said is stored. Whoever deletes
-- the row decides: an instance that takes the reply over, or the owner, which goes on with it.
create table handovers (
  reply_id    uuid primary key references messages on delete cascade,
  instance_id uuid not null,
  epoch       bigint not null,
  reason      text not null check (reason in ('boundary', 'shutdown')),
  at          timestamptz not null default clock_timestamp()
);

-- Whether it takes over what others leave. Null: its version cannot.
alter table instances add column adopts boolean;

alter table agents add column on_loss text not null default 'error' check (on_loss in ('error', 'continue'));

-- When it was stored. Null: by a version that did not say. (A default that is set later rewrites no table.)
alter table flushes add column at timestamptz;
alter table flushes alter column at set default clock_timestamp();
alter table frame_runs add column at timestamptz;
