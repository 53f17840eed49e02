import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { debianRoot } from '@skerry/testing'
import { architectures, type MachineArchitecture } from './architectures-table.ts'
import { foreignRoot, unpackForeign } from './foreign-root.ts'

const execute = promisify(execFile)

/** The files from which every virtual machine starts. */
export interface SystemImage {
  readonly kernel: string
  readonly initrd: string
  /** An image of a disk with the root, of which each machine has a copy. */
  readonly disk: string
  /** The private key of the root user of every machine. */
  readonly key: string
}

const diskBytes = 4 * 1024 ** 3

/** Loads the drivers, in the order of their names, and mounts the disk. */
const initScript = `#!/bin/busybox sh
/bin/busybox mount -t devtmpfs d /dev
for each in /m/*; do /bin/busybox insmod "$each"; done
n=0
while [ ! -e /dev/vda ] && [ $n -lt 100 ]; do /bin/busybox usleep 50000; n=$((n+1)); done
/bin/busybox mount -t ext4 /dev/vda /r && exec /bin/busybox switch_root /r /sbin/init
exec /bin/busybox sh
`

/** Reads name and address from the kernel's command line, and makes a host key at the first start. */
const startScript = `#!/bin/sh
set -e
for word in $(cat /proc/cmdline); do case $word in skerry.*) export "\${word#skerry.}" ;; esac; done
modprobe virtio_net
hostname "$name"
echo "$name" > /etc/hostname
printf '127.0.0.1 localhost\\n127.0.1.1 %s\\n' "$name" > /etc/hosts
[ -e /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
n=0
while [ ! -e /sys/class/net/eth0 ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
ip link set eth0 up
ip address add "$address/24" dev eth0
`

const startUnit = `[Unit]
DefaultDependencies=no
Before=network.target ssh.service
After=systemd-udevd.service local-fs.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/machine-start
[Install]
WantedBy=multi-user.target
`

/**
 * Returns the base image of the host's own release; it is made once, in one or two minutes, and in more for another
 * architecture than the host's, whose machines have none of the packages that a node needs.
 */
export async function systemImage(architecture: MachineArchitecture = 'x64'): Promise<SystemImage> {
  const { kernelPackage, bootDrivers } = architectures[architecture]
  const root = await (architecture === process.arch ? debianRoot() : foreignRoot())
  const parts = JSON.stringify([
    root,
    kernelPackage,
    bootDrivers,
    initScript,
    initrdScript,
    startScript,
    startUnit,
    diskBytes,
  ])
  const hash = createHash('sha256').update(parts).digest('hex').slice(0, 12)
  const directory = join(tmpdir(), `skerry-virtual-machine-${hash}`)
  if (!(await isPresent(directory))) {
    const part = await mkdtemp(join(tmpdir(), 'skerry-virtual-machine-part-'))
    try {
      await makeImage(part, { shared: root, architecture })
      await rename(part, directory)
    } finally {
      await rm(part, { recursive: true, force: true })
    }
  }
  return {
    kernel: join(directory, 'vmlinuz'),
    initrd: join(directory, 'initrd'),
    disk: join(directory, 'disk'),
    key: join(directory, 'key'),
  }
}

interface ImagePlan {
  readonly shared: string
  readonly architecture: MachineArchitecture
}

async function makeImage(directory: string, { shared, architecture }: ImagePlan): Promise<void> {
  const at = (...names: string[]): string => join(directory, ...names)
  await unpackKernel(directory, architecture)
  const [release = ''] = await readdir(at('kernel/lib/modules'))
  await rename(at('kernel/boot', `vmlinuz-${release}`), at('vmlinuz'))
  await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('key')])
  await makeRoot(at('root'), { shared, directory, release })
  const { bootDrivers } = architectures[architecture]
  const drivers = await driversOf(at('root/lib/modules', release), bootDrivers)
  const env = { PATH: process.env.PATH ?? '', INIT: initScript, DRIVERS: drivers.join(' ') }
  await execute('sh', ['-ec', initrdScript], { cwd: directory, env })
  await execute('mke2fs', [
    '-q',
    '-t',
    'ext4',
    '-d',
    at('root'),
    at('disk'),
    `${diskBytes / 1024}k`,
  ])
  for (const name of ['root', 'kernel', 'deb', 'initrd-root'])
    await rm(at(name), { recursive: true, force: true })
}

/** Unpacks the kernel and a shell for its first steps. */
async function unpackKernel(directory: string, architecture: MachineArchitecture): Promise<void> {
  const { kernelPackage } = architectures[architecture]
  const kernel = join(directory, 'kernel')
  if (architecture !== process.arch) return unpackForeign([kernelPackage, 'busybox-static'], kernel)
  const debs = join(directory, 'deb')
  await mkdir(debs)
  const { stdout } = await execute('apt-cache', ['depends', kernelPackage])
  const version = /Depends: (linux-image-\S+)/.exec(stdout)?.[1]
  if (version === undefined) throw new Error(`Cannot find a kernel: apt knows no ${kernelPackage}`)
  await execute('apt-get', ['download', '-q', version, 'busybox-static'], { cwd: debs })
  for (const name of await readdir(debs)) {
    await execute('dpkg', ['-x', join(debs, name), kernel])
  }
}

/** Returns the files of the drivers, each after those that it needs. */
async function driversOf(modules: string, names: readonly string[]): Promise<string[]> {
  const lines = (await readFile(join(modules, 'modules.dep'), 'utf8')).split('\n')
  const found = names.flatMap((name) => {
    const line = lines.find((each) => new RegExp(`/${name}\\.ko[^:]*:`).test(each))
    return (line?.replace(':', '').trim().split(' ') ?? []).toReversed()
  })
  return [...new Set(found)].map((path) => join(modules, path))
}

const initrdScript = `
mkdir -p initrd-root/bin initrd-root/m initrd-root/r initrd-root/dev initrd-root/proc
cp kernel/bin/busybox initrd-root/bin/ 2>/dev/null || cp kernel/usr/bin/busybox initrd-root/bin/
n=10
for each in $DRIVERS; do
  n=$((n+1))
  name=initrd-root/m/$n-$(basename "$each" .xz)
  case $each in *.xz) xz -dc "$each" ;; *) cat "$each" ;; esac > "$name"
done
printf '%s' "$INIT" > initrd-root/init
chmod +x initrd-root/init
(cd initrd-root && find . | cpio -o -H newc --quiet) | gzip -1 > initrd
`

interface RootPlan {
  readonly shared: string
  readonly directory: string
  readonly release: string
}

async function makeRoot(root: string, { shared, directory, release }: RootPlan): Promise<void> {
  await execute('cp', ['-a', shared, root])
  await execute('cp', ['-a', join(directory, 'kernel/lib/modules'), join(root, 'lib')])
  await execute('depmod', ['--basedir', root, release])
  const units = join(root, 'etc/systemd/system')
  await mkdir(join(units, 'multi-user.target.wants'), { recursive: true })
  await writeFile(join(root, 'usr/local/sbin/machine-start'), startScript, { mode: 0o755 })
  await writeFile(join(units, 'machine-start.service'), startUnit)
  await symlink(
    '../machine-start.service',
    join(units, 'multi-user.target.wants/machine-start.service'),
  )
  await writeFile(join(root, 'etc/fstab'), '/dev/vda / ext4 defaults 0 1\n')
  const keys = join(root, 'root/.ssh')
  await mkdir(keys, { recursive: true, mode: 0o700 })
  await execute('cp', [join(directory, 'key.pub'), join(keys, 'authorized_keys')])
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
