-- The sessions that a user has had, likewise.
create index concurrently session_deletions_by_user on session_deletions (agent_id, user_hash, change)
 where user_hash is not null
