-- Reading the words of 30,000 rows for statistics, at each tenth that a small table grows, costs as much as making them
-- searchable. A tenth of them tells common words from others.
alter table message_words
  alter column message_id set statistics 10,
  alter column session_id set statistics 10,
  alter column at set statistics 10,
  alter column words set statistics 10,
  alter column whole set statistics 10;
alter table message_words set (autovacuum_analyze_scale_factor = 0.5, autovacuum_analyze_threshold = 5000);
