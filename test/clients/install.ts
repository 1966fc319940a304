/**
 * Installs the clients into folders of their own that git ignores: 200 MB that the product does not need. Asked for
 * through `clients()`, once a run; what is there already is kept.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))

/** Of PyPI's openai. */
export const pythonVersion = '3.22.1'
const venv = join(here, 'node_modules', '.python')
const python = join(venv, 'bin', 'python')

/** Rejects with one line when the npm registry cannot be reached. */
export const installPackages = (): Promise<void> => installFolder('.')

/** Likewise: 350 packages of one client. */
export const installCopilotKit = (): Promise<void> => installFolder('copilotkit')

async function installFolder(name: string): Promise<void> {
  const cwd = join(here, name)
  const lock = join(cwd, 'package-lock.json')
  /** What is installed: a copy of the lock file, written last. */
  const stamp = join(cwd, 'node_modules', '.installed')
  const [wanted, present] = await Promise.all([readFile(lock, 'utf8'), readFile(stamp, 'utf8').catch(() => '')])
  if (present === wanted) return
  const folder = join('test/clients', name)
  console.log(`Installing the clients of ${folder} through npm …`)
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['ci', ...options], { cwd }).catch((error: unknown) => {
    throw new Error(`The clients could not be installed: npm ci --prefix ${folder}: ${reasonOf(error)}`)
  })
  await copyFile(lock, stamp)
}

/**
 * Path of a Python that has the official client. Null where Python or pip cannot bring it: Greenroom needs neither, so
 * this client alone is left out, and the run says so.
 */
export async function installPython(): Promise<string | null> {
  try {
    if (existsSync(python) && (await versionIn(python)) === pythonVersion) return python
    console.log('Installing the Python client through pip …')
    await rm(venv, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', venv])
    const options = ['--quiet', '--retries', '0', '--only-binary', ':all:', '--disable-pip-version-check']
    await run(python, ['-m', 'pip', 'install', ...options, `openai==${pythonVersion}`], { timeout: 120_000 })
    return python
  } catch (error) {
    console.warn(`The Python client is left out: it could not be installed (${reasonOf(error)}).`)
    return null
  }
}

const versionIn = async (path: string) =>
  (await run(path, ['-c', 'import openai; print(openai.__version__)']).catch(() => ({ stdout: '' }))).stdout.trim()

/** npm's code, such as ECONNREFUSED; of others the last line, which sums up. */
function reasonOf(error: unknown): string {
  const said = String(Object(error).stderr || Object(error).message).trim()
  return /^npm error code (\S+)/m.exec(said)?.[1] ?? said.split('\n').at(-1) ?? ''
}
