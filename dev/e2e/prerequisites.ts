import { findMissingPrograms, packagesOf } from '../../roles/up/system-packages.ts'

/** Returns why these tests cannot run on this machine, in one line, or false if they can. */
export async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root: containers and network namespaces'
  const missing = packagesOf(await findMissingPrograms(['node', 'tests', 'end-to-end tests']))
  if (missing.length > 0) return `needs system packages: apt-get install ${missing.join(' ')}`
  return false
}
