-- A user's sessions, most recently updated first: list, export, revocation. Sessions of nobody are not in it, so that
-- their updates do not pay for it.
create index concurrently sessions_by_user on sessions (agent_id, end_user, updated_at desc, num desc)
 where end_user is not null
