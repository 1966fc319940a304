-- Each reply wrote an entry to these. sessions_not_complete and token_usage_by_age stand in their place
-- (persistence/indexes/).
drop index if exists sessions_by_status;
drop index token_usage_by_time, token_usage_to_fold;
