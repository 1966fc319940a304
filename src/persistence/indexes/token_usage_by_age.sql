-- What was used within a time, and what is old enough to be folded: those that are folded apart from the others.
create index concurrently token_usage_by_age on token_usage (folded, at)
