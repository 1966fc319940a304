/** A message that has begun from the queue, as its agent answers it now (contract section 22). */
import type { PreparedMessage } from './begin-queued.ts'
import type { BegunMessage } from './queue-store.ts'

/** The builder of a message from its agent as it is now. `fault`: the reason why it is refused; null when none is known. */
type Rebuild = (
  agentId: string,
  input: ReturnType<typeof inputOf>,
  mediaTypes: readonly string[],
  fault: string | null,
) => Promise<PreparedMessage | null>

/** Prepares messages by `rebuild`, as `QueueOptions` has it. */
export const preparing = (rebuild: Rebuild) => (begun: BegunMessage, mediaTypes: readonly string[]) =>
  rebuild(begun.agentId, inputOf(begun), mediaTypes, begun.fault && NO_PLACE)

const NO_PLACE = 'parent_id: there is no such reply in this session any more'

const inputOf = ({ admission, input, agentVersion, depth, follows }: BegunMessage) => ({
  ...input,
  begunAs: agentVersion,
  depth,
  ...(follows && { follows }),
  sessionId: admission.reply.sessionId,
  text: admission.text,
  place: undefined,
  idempotency: null,
  isRetry: false,
  onBusy: 'reject' as const,
})
