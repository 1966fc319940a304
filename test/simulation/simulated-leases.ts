/** The table of instances, as the statements of leases and losses change it: they are known by their words. */
import type { Complain } from './simulated-replies.ts'

interface InstanceRow {
  epoch: number
  lease: number
  isLost: boolean
}

export interface Owner {
  id: string
  epoch: number
}

/** `hasLease`: whether an instance takes its own lease for valid at this moment. */
export function createSimulatedLeases(hasLease: (id: string) => boolean, complain: Complain) {
  const instances = new Map<string, InstanceRow>()

  function take(id: string, epoch: number): object[] {
    const row = instances.get(id) ?? { epoch, lease: -1, isLost: false }
    instances.set(id, { ...row, lease: row.lease + 1, isLost: false })
    return [{ epoch: row.epoch }]
  }
  function renew(id: string, epoch: unknown): object[] {
    const row = instances.get(id)
    if (row === undefined || row.epoch !== epoch) return []
    row.lease += 1
    return [{}]
  }
  /** Each condition only where the statement has it. */
  function raise(id: string, lease: unknown, text: string): object[] {
    const row = instances.get(id)
    if (row === undefined || (row.isLost && text.includes('and lost_at is null'))) return []
    if (row.lease !== lease && text.includes('and lease =')) return []
    if (hasLease(id)) complain('An instance was declared lost while its lease was valid.')
    Object.assign(row, { epoch: row.epoch + 1, isLost: true })
    return [{ id }]
  }

  return {
    holds: ({ id, epoch }: Owner) => epoch !== 0 && instances.get(id)?.epoch === epoch,
    statement(text: string, values: readonly unknown[]): object[] {
      const [first, second, third] = values
      if (text.includes('insert into instances')) return take(String(first), Number(second))
      if (text.includes('set lease = lease + 1')) return renew(String(second), third)
      if (text.includes('set epoch = epoch + 1')) return raise(String(first), second, text)
      if (text.includes('select id, lease')) {
        const others = [...instances].filter(([id, { isLost }]) => id !== first && !isLost)
        return others.map(([id, { lease }]) => ({ id, lease }))
      }
      throw new Error(`A statement that the simulation does not know: ${text}`)
    },
  }
}

export type SimulatedLeases = ReturnType<typeof createSimulatedLeases>
