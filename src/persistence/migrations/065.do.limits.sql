-- Limits of keys, and of each user of an agent: {requestsPerMinute, concurrentReplies, tokensPerDay, costPerMonth}, each
-- optional. Null: none.
alter table keys add column limits jsonb;
alter table agents add column user_limits jsonb;

drop trigger raise_key_changes on keys;
create trigger raise_key_changes
  after insert or delete or update of name, agent_ids, expires_at, limits on keys
  for each statement execute function raise_key_changes();

-- A subject of limits is a key (its id), or a user of an agent (the agent's id, a space, the user). Its row is locked while
-- its limits are judged: after instance, session and message, several in their order.
create table limit_subjects (
  subject  text primary key,
  requests bigint not null default 0 -- how many were counted for a limit of requests: numbers limit_requests
);

-- Requests of the last minute. They are numbered without a gap, so that counting them is a subtraction.
create table limit_requests (
  subject text not null,
  n       bigint not null,
  at      timestamptz not null,
  primary key (subject, n)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);

-- Replies that hold a place among the concurrent ones: in a session while their message is `streaming`, stateless ones until
-- their usage is counted or their instance is lost.
create table limit_places (
  subject     text not null,
  reply_id    uuid not null,
  instance_id uuid,   -- null: of a session
  epoch       bigint,
  primary key (subject, reply_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
create index limit_places_of_instances on limit_places (reply_id) where instance_id is not null;

-- Tokens and cost by day (UTC). Settlements only add rows, so that none waits for another; rows of a day are folded to one.
create table limit_usage (
  subject text not null,
  day     date not null,
  tokens  bigint not null,
  cost    numeric not null,
  folded  boolean not null default false
);
create index limit_usage_by_subject on limit_usage (subject, day);
create index limit_usage_to_fold on limit_usage (subject) where not folded;
