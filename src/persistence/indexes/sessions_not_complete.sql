-- Sessions by the status of their newest reply, except complete ones: these are most, and are found by time.
create index concurrently sessions_not_complete on sessions (status, updated_at desc, num desc)
 where status <> 'complete'
