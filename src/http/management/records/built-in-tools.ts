/** Tools that come with the server (specification 2.4 and 4.7). */
import type { Handlers } from '../../server/mount.ts'

export interface BuiltInTool {
  id: string
  name: string
  description: string
}

export const builtInToolHandlers = ({ builtInTools }: { builtInTools: readonly BuiltInTool[] }) =>
  ({
    listBuiltInTools: () => ({
      builtInTools: builtInTools.map(({ id, name, description }) => ({ id, name, description })),
    }),
  }) satisfies Handlers<'builtInTools'>
