-- A user's sessions with all agents.
create index concurrently sessions_by_end_user on sessions (end_user, updated_at desc, num desc)
 where end_user is not null
