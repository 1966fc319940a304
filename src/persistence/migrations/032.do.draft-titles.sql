-- A title that was derived when the first message was admitted, and that a model's is to replace (SESSION_TITLES=model,
-- contract section 25). False for all others; older versions leave it so.
alter table sessions add column title_is_draft boolean not null default false;

drop index untitled_sessions;
create index untitled_sessions on sessions (title_due_at, num)
  where (title is null or title_is_draft) and next_seq > 1 and title_due_at < 'infinity';
