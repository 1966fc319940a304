-- Finds the use within a time, and rows that are old enough to be folded; folded rows are kept apart from the others.
create index concurrently token_usage_by_age on token_usage (folded, at)
