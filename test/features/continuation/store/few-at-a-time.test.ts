/** Claims under a limit of time for statements (contract sections 21 and 26). */
import { expect } from 'vitest'
import { createHandovers } from '../../../../src/features/continuation/store/handovers.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { lose, runningReply } from './handover-scene.ts'

verifies(
  'contract-26.statement-timeout',
  'claims that take too long together are divided, and those of one that takes too long alone end',
  async () => {
    await using scene = await openScene()
    const { sql, database, instance } = scene
    const replies = []
    while (replies.length < 6) replies.push(await runningReply(scene))
    await lose(scene, instance)
    const taker = (await scene.another()).instance
    const name = new URL(database.url).pathname.slice(1)
    await sql.unsafe(`
      create function take_long() returns trigger language plpgsql as $$
      begin
        perform pg_sleep(case when old.id = '${replies[5]?.id}' then 10 else 0.2 end);
        return new;
      end $$;
      create trigger take_long before update of instance_id on messages for each row execute function take_long();
      alter database ${name} set statement_timeout = '1500ms'`)
    await using timedSql = Object.assign(connect(database.url, { max: 2, name: 'timed', timeoutMs: 0 }), {
      [Symbol.asyncDispose]: () => timedSql.end(),
    })
    const { claim } = createHandovers({ sql, untimedSql: timedSql, instance: taker, withinS: 600, waitMs: 1000 })
    // The first two go alone, and the others, which come meanwhile, together.
    const claims = await Promise.allSettled(replies.map(({ id }) => claim(id)))
    expect(claims.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), 'rejected'])
    for (const one of claims.slice(0, 5)) expect(one).toMatchObject({ value: { reason: 'instance_lost' } })
  },
)
