/** Facts about processes from Linux (/proc): which one runs node, and whether one is gone. */
import { readdir, readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'

/** Returns the node process below npm, which runs a shell that either spawns node or becomes it. */
export async function nodeBelow(pid: number): Promise<number> {
  const [child] = await childrenOf(pid)
  if (child === undefined) return pid
  return nodeBelow(child.pid)
}

/** Returns the children in the same process group: the database's guard has its own group. */
async function childrenOf(pid: number): Promise<{ pid: number }[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const found = await Promise.all(text.trim().split(' ').filter(Boolean).map(Number).map(statOf))
  const own = await statOf(pid)
  return found.filter((child) => child !== null).filter((child) => child.group === own?.group)
}

/** Returns a process and its group. Resolves to null when the process is gone, or a zombie. */
export async function statOf(pid: number): Promise<{ pid: number; group: number } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [state, , group] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return text === '' || state === 'Z' ? null : { pid, group: Number(group) }
}

/** Sets the priority of a process's threads: a process has none of its own. */
export async function setPriorities(pid: number, priority: number): Promise<void> {
  for (const thread of await readdir(`/proc/${pid}/task`)) setPriority(Number(thread), priority)
}
