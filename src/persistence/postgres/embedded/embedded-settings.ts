/** Settings of the embedded server besides its address. */

// Errors of statements are not logged: they quote stored data.
const quiet = ['log_min_messages=log', 'log_min_error_statement=panic', 'log_error_verbosity=terse']

// initdb makes it 64 segments: 64 MB with ours. 200 running replies write that in 20 s, so that three or four times a
// minute a checkpoint wrote all that was touched, and the pages touched next went to the WAL whole: 22 bytes a token
// instead of 5. 150 MB are replayed in a second after a crash.
const checkpoints = 'max_wal_size=512MB'

// A plan that was made while a table was small is kept until it is analysed, which is looked at once a minute. A new
// installation under load had its first minute's plans for empty tables.
const analysis = 'autovacuum_naptime=5s'

export const serverSettings: readonly string[] = [...quiet, checkpoints, analysis]
