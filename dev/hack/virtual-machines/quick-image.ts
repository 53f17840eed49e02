import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemImage } from './system-image.ts'

const execute = promisify(execFile)

/** The files that quick machines share and only read. */
export interface QuickImage extends AsyncDisposable {
  readonly kernel: string
  readonly initrd: string
  /** A disk with the root of a Debian machine. */
  readonly base: string
  /** A disk whose files lie over those of the base. */
  readonly program: string
}

const programBytesMax = 2 * 1024 ** 3

/** The port at which a machine runs what it is sent. */
export const shellPort = 7_000
/** The addresses of the emulator's own network: the machine, and the host as the machine sees it. */
export const guestAddress = '10.0.2.15'
export const hostAddress = '10.0.2.2'

/**
 * Runs until the machine would mount its disk. The disk, the third one, is taken away from the driver, so that nothing of
 * it is in memory. Modules that the kernel asks for later, such as those of nftables, come from the machine's root.
 */
const initScript = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /b /p /d /r
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs d /dev
mount -t proc p /proc
mount -t sysfs s /sys
for each in /m/*; do insmod "$each"; done
n=0
while [ ! -e /dev/vdc ] && [ $n -lt 200 ]; do usleep 50000; n=$((n+1)); done
echo virtio2 > /sys/bus/virtio/drivers/virtio_blk/unbind
mount -t ext4 -o ro,noload /dev/vda /b
mount -t ext4 -o ro,noload /dev/vdb /p
mount -t proc p /b/proc
for each in virtio_net overlay virtio_rng; do chroot /b modprobe $each; done
umount /b/proc
n=0
while [ ! -e /sys/class/net/eth0 ] && [ $n -lt 200 ]; do usleep 50000; n=$((n+1)); done
hostname quick
ip link set lo up
ip link set eth0 up
ip address add ${guestAddress}/24 dev eth0
ip route add default via ${hostAddress}
find /p -type f -exec cat {} + > /dev/null
printf '#!/bin/busybox sh\\nexec /bin/chroot /r /sbin/modprobe "$@"\\n' > /bin/load
chmod +x /bin/load
echo /bin/load > /proc/sys/kernel/modprobe
nc -ll -p ${shellPort} -e /bin/sh &
echo machine waits > /dev/console
while :; do sleep 1000; done
`

/** Mounts the disk as a machine does when it boots, with the base and the program below what the disk has. */
export const mountScript = `set -e
echo virtio2 > /sys/bus/virtio/drivers/virtio_blk/bind
n=0
while [ ! -e /dev/vdc ] && [ $n -lt 200 ]; do usleep 50000; n=$((n+1)); done
mount -t ext4 /dev/vdc /d
mkdir -p /d/upper /d/work /d/data
mount -t overlay o -o lowerdir=/p:/b,upperdir=/d/upper,workdir=/d/work /r
mkdir -p /r/var/lib/skerry
mount --bind /d/data /r/var/lib/skerry
mount -t proc p /r/proc
mount -t sysfs s /r/sys
mount -t cgroup2 c /r/sys/fs/cgroup
mount -t devtmpfs d /r/dev
mkdir -p /r/dev/pts /r/dev/shm
mount -t devpts d /r/dev/pts
mount -t tmpfs t /r/dev/shm
mount -t tmpfs t /r/run
mount -t tmpfs t /r/tmp
`

/**
 * Makes the image; `fill` puts the program's files into a directory that becomes part of the machine's root. The image
 * of the system itself is shared with other virtual machines and made at most once.
 */
export async function makeQuickImage(fill: (root: string) => Promise<void>): Promise<QuickImage> {
  const system = await systemImage()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-quick-image-'))
  const at = (name: string): string => join(directory, name)
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  try {
    await mkdir(at('root'))
    await fill(at('root'))
    await execute('mke2fs', ['-q', '-t', 'ext4', '-d', at('root'), at('program'), sizeOfProgram])
    await rm(at('root'), { recursive: true })
    await writeInitrd(at('initrd'), system.initrd)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  return {
    kernel: system.kernel,
    initrd: at('initrd'),
    base: system.disk,
    program: at('program'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

const sizeOfProgram = `${programBytesMax / 1024}k`

/** Appends an archive with another init to the initrd: of two files with one name, the kernel keeps the later one. */
async function writeInitrd(path: string, shared: string): Promise<void> {
  const root = `${path}-root`
  await mkdir(root)
  await writeFile(join(root, 'init'), initScript)
  await chmod(join(root, 'init'), 0o755)
  await execute('sh', ['-ec', 'echo init | cpio -o -H newc --quiet | gzip -1 > ../initrd-init'], {
    cwd: root,
  })
  await writeFile(path, Buffer.concat([await readFile(shared), await readFile(`${path}-init`)]))
  await rm(root, { recursive: true })
}
