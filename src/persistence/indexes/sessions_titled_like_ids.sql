-- Titles that could contain the beginning of an id: eight hexadecimal digits or hyphens in a row. Almost none, so that who
-- looks for an id does not read every title.
create index concurrently sessions_titled_like_ids on sessions (num)
 where title ~ '[0-9A-Fa-f-]{8}'
