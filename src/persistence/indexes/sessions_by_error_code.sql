-- The same, by how the newest reply failed. Most did not.
create index concurrently sessions_by_error_code on sessions (error_code, updated_at desc, num desc)
 where error_code is not null
