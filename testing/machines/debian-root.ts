import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { keptDirectory, makeOnce } from '../kept-directory.ts'
import { aptSettings, aptTargets, hostSuite } from './apt-sources.ts'

const execute = promisify(execFile)

/** A small server of Debian with everything that a node and a master with a virtual IP need, so that no test has to reach a mirror. */
const packages =
  `systemd-sysv dbus openssh-server sudo iproute2 containerd runc containernetworking-plugins nftables
  iptables mount kmod procps libatomic1 libstdc++6 udev keepalived curl`.split(/\s+/)

/** A server on which nothing but an administrator has installed anything. */
const barePackages = ['systemd-sysv', 'dbus', 'openssh-server', 'sudo', 'udev']

/** The name of the user who may become root with sudo. */
export const operatorName = 'keeper'

/** Runs in the new root. Each machine makes its own host keys; its nodes start their own containerd. */
const customize = `set -e
rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/apt/apt.conf.d/99mmdebstrap
chroot "$1" useradd --create-home --shell /bin/bash --groups sudo ${operatorName}
[ ! -e "$1"/usr/bin/containerd ] || chroot "$1" systemctl disable containerd.service
[ ! -e "$1"/usr/sbin/keepalived ] || chroot "$1" systemctl disable keepalived.service
chroot "$1" systemctl disable apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
echo PermitRootLogin yes > "$1"/etc/ssh/sshd_config.d/machine.conf
`

/**
 * Returns a root directory of the host's own release, which machines share and nobody may change. It is made once, in
 * a minute, and kept below the system's temporary directory by the hash of what it is made of.
 */
export function debianRoot(): Promise<string> {
  return rootOf(packages)
}

/** Returns the same without the packages that a node needs. */
export function bareDebianRoot(): Promise<string> {
  return rootOf(barePackages)
}

async function rootOf(names: readonly string[]): Promise<string> {
  const suite = await hostSuite()
  const hash = createHash('sha256').update(JSON.stringify([suite, names, customize]))
  const directory = keptDirectory(`skerry-machine-root-${hash.digest('hex').slice(0, 12)}`)
  const root = join(directory, 'root')
  await makeOnce(
    directory,
    () => isPresent(root),
    async () => {
      const part = await mkdtemp(`${directory}-part-`)
      try {
        await installDebian(join(part, 'root'), { suite, names })
        await rename(part, directory)
      } catch (error) {
        await rm(part, { recursive: true, force: true })
        throw error
      }
    },
  )
  return root
}

interface RootPlan {
  readonly suite: string
  readonly names: readonly string[]
}

async function installDebian(root: string, { suite, names }: RootPlan): Promise<void> {
  const settings = [...(await aptSettings())].map(([name, value]) => `--aptopt=${name} "${value}";`)
  const sources = (await aptTargets(suite)).map(
    ({ url, release, component }) => `deb ${url} ${release} ${component}`,
  )
  await execute(
    'mmdebstrap',
    [
      '--quiet',
      '--mode=root',
      '--variant=apt',
      `--include=${names.join(',')}`,
      `--customize-hook=${customize}`,
      ...settings,
      suite,
      root,
      ...sources,
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  )
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
