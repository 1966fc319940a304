/** Chooses the data folder of a start for which nobody has set one. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { canEnter, databaseUser } from '../../persistence/postgres/embedded/embedded-host.ts'
import type { Settings } from '../../settings.ts'

const SYSTEM_FOLDER = '/var/lib/greenroom'

/**
 * Returns the settings with another DATA_DIR where it is not set and the embedded database could not run below the
 * working folder: root's process runs the database as another OS user. A folder that is there already is used whatever
 * comes of it: a new, empty database beside the old one would look like lost data.
 */
export async function chooseDataFolder(
  settings: Settings,
  given: string | undefined,
  workingFolder: string,
  say: (line: string) => void,
): Promise<Settings> {
  if (given?.trim() || settings.databaseUrl !== null || (await exists(join(workingFolder, 'data')))) return settings
  const user = await databaseUser()
  if (user.uid === undefined || (await canEnter(workingFolder, user))) return settings
  say(
    `The data is kept in ${SYSTEM_FOLDER} (DATA_DIR is not set): the OS user "postgres", which runs the embedded ` +
      `database, cannot enter ${workingFolder}.`,
  )
  return { ...settings, dataDir: SYSTEM_FOLDER }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
