-- The same, by the status of the newest reply. Most are complete: what comes to that is not in it, and is found by time.
create index concurrently sessions_not_complete on sessions (status, updated_at desc, num desc)
 where status <> 'complete'
