/** Folders for tests. */
import { chmod, mkdtemp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'

/**
 * Creates a new folder that every OS user may enter, so that it can be a DATA_DIR. Remove it after the test; folders of
 * killed tests are removed at the end of the run.
 */
export async function temporaryFolder(name = 'folder'): Promise<string> {
  const folder = await mkdtemp(join(dirname(inject('serverBroker')), `${name}-`))
  await chmod(folder, 0o755)
  return folder
}
