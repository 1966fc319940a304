-- sessions_neither_complete_nor_streaming stands in its place (persistence/indexes/).
drop index if exists sessions_not_complete;
