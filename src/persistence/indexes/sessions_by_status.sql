-- The same, by the status of the newest reply.
create index concurrently sessions_by_status on sessions (status, updated_at desc, num desc)
