-- Sessions by the status of their newest reply. Complete ones are most, and are found by time; those that stream are found
-- by their running replies: each reply wrote an entry for its own time.
create index concurrently sessions_neither_complete_nor_streaming on sessions (status, updated_at desc, num desc)
 where status <> 'complete' and status <> 'streaming'
