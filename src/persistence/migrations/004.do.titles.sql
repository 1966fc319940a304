-- Background jobs: titles that a model makes, whose turn it is, and the installation's name towards Redis.

-- A session wants a title when it has none and its first reply has ended (next_seq > 1). title_due_at says from when
-- on it may be asked for: a claim moves it ahead, so that a claimer which died is succeeded; 'infinity' gives up.
alter table sessions
  add column title_due_at timestamptz not null default '-infinity',
  add column title_attempts smallint not null default 0;
-- Sessions with a title are not in it: work is found without a look at the others.
create index untitled_sessions on sessions (title_due_at, num)
  where title is null and next_seq > 1 and title_due_at < 'infinity';

-- When each job is due next, for instances that agree through PostgreSQL alone.
create table jobs (
  name   text primary key,
  due_at timestamptz not null
);

-- One row, made by the first start: installations that share one Redis keep out of each other's keys.
create table installation (
  only_row boolean primary key default true check (only_row),
  id       uuid not null default gen_random_uuid()
);
