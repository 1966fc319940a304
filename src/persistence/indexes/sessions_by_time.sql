-- The sessions of all agents, most recently updated first.
create index concurrently sessions_by_time on sessions (updated_at desc, num desc)
