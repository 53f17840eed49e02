import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemRandom } from '@skerry/base'
import { takeFileTurn } from '@skerry/store'

/**
 * Returns the path for something that tests make once and use in every run, such as a root directory of Debian: below the
 * system's temporary directory, also while `./skerry test` gives its tests another one.
 */
export function keptDirectory(name: string): string {
  return join(process.env['SKERRY_TEST_KEPT'] ?? tmpdir(), name)
}

/** Makes the directory unless it is there, while other processes that want it wait. */
export async function makeOnce(
  directory: string,
  isThere: () => Promise<boolean>,
  make: () => Promise<void>,
): Promise<void> {
  if (await isThere()) return
  const deps = { clock: systemClock, random: systemRandom }
  using _turn = await takeFileTurn(`${directory}.turn`, deps, AbortSignal.timeout(makeMsMax))
  if (!(await isThere())) await make()
}

/** The guard for a slow mirror. */
const makeMsMax = 600_000
