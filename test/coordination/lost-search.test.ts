/** The search for lost owners names, of a reply that nobody goes on with, why it ended: in its row and in the log. */
import { expect } from 'vitest'
import { storedReplies } from '../../src/compose/stored-replies.ts'
import { createLostSearch } from '../../src/coordination/leases/lost-search.ts'
import { openScene } from '../persistence/scene.ts'
import { verifies } from '../verifies.ts'

for (const { offered, code, words } of [
  { offered: 'shutdown', code: 'shutdown', words: 'The instance is shutting down.' },
  { offered: 'database', code: 'instance_lost', words: 'The instance that generated this reply was lost.' },
  { offered: null, code: 'instance_lost', words: 'The instance that generated this reply was lost.' },
]) {
  verifies(
    ['contract-21.continued', 'contract-17.failed-replies'],
    `offered for ${offered ?? 'nothing'}, it ends as ${code}, with the words of that, in its message and the log`,
    async () => {
      await using scene = await openScene()
      const { sql, instance } = scene
      const reply = await scene.begin(await scene.newSession())
      if (offered !== null) {
        await sql`
          insert into handovers (reply_id, instance_id, epoch, reason)
          values (${reply.id}, ${reply.instanceId}, ${reply.epoch}, ${offered})`
      }
      await sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${instance.id}`
      const lines: object[] = []
      const log = { warn: (details: object) => void lines.push(details), info() {} }
      const search = createLostSearch(
        {
          ...{ id: (await scene.another()).instance.id, work: sql, leaseMs: 60_000, log },
          replies: storedReplies(sql, () => null, log, 600),
        },
        () => {},
      )
      await search.run()
      expect(lines).toMatchObject([{ replyId: reply.id, code, detail: words }])
      const [row] = await sql`select error_code, error_message, error_detail from messages where id = ${reply.id}`
      expect(row).toEqual({ error_code: code, error_message: words, error_detail: words })
    },
  )
}
