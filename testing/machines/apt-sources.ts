import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A mirror of the distribution, as this host's apt is configured with it. */
export interface AptTarget {
  readonly url: string
  readonly release: string
  readonly component: string
}

/** Returns the code name of this host's release. */
export async function hostSuite(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8')
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1]
  if (suite === undefined) throw new Error('Cannot choose a release: /etc/os-release names none')
  return suite
}

/**
 * Returns the mirrors of the distribution itself, without third parties: its components are main and universe, and
 * its suites begin with the code name. Throws if apt names none.
 */
export async function aptTargets(suite: string): Promise<AptTarget[]> {
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)'
  const { stdout } = await execute('apt-get', [
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
  ])
  const targets = stdout
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([url = '', release = '', component = '']) =>
      new RegExp(`^${suite}(-updates|-security|/updates)?$`).test(release) &&
      ['main', 'universe'].includes(component)
        ? [{ url, release, component }]
        : [],
    )
  if (targets.length > 0) return targets
  throw new Error(`Cannot find a mirror: apt is configured with none for ${suite}; pass --suite`)
}

/** Returns the settings for downloads, without those about the local storage and use of indexes. */
export async function aptSettings(): Promise<Map<string, string>> {
  const { stdout } = await execute('apt-config', ['dump'])
  const lines = stdout.matchAll(/^(Acquire::[A-Za-z0-9:-]+) "(.*)";$/gm)
  const settings = [...lines].map(([, name = '', value = '']) => [name, value] as const)
  return new Map(
    settings.filter(([name, value]) => value !== '' && !/::(IndexTargets|cdrom)::/i.test(name)),
  )
}
