/** The lines of a shell that give a root what a machine has after its kernel has started: /proc, /sys, /dev, /run. */
export interface BootScript {
  /** Runs with the host's programs in the directory that becomes the root. */
  readonly mounts: readonly string[]
  /** Makes that directory the root and lets go of the host's. */
  readonly changeRoot: readonly string[]
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'net/tun', 'kmsg']

export function bootScript(groups: readonly string[]): BootScript {
  return {
    mounts: [
      'mount -t proc proc proc',
      'mount -t sysfs sysfs sys',
      ...groups,
      'mount -t tmpfs -o mode=755 tmpfs dev',
      'mkdir dev/net dev/pts dev/shm',
      `for each in ${devices.join(' ')}; do [ ! -e /dev/$each ] || { : > dev/$each; mount --bind /dev/$each dev/$each; }; done`,
      'mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts',
      'ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd',
      'ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr',
      'mount -t tmpfs tmpfs dev/shm',
      'mount -t tmpfs -o mode=755 tmpfs run; mkdir run/lock',
    ],
    changeRoot: [
      'pivot_root . mnt; cd /',
      // Only the host is sure to have umount; Perl is essential in Debian. 2 is MNT_DETACH.
      `perl -e 'syscall(${umount2Numbers[process.arch]}, my $path = "/mnt", 2) == 0 or die "Cannot detach the host: $!\\n"'`,
    ],
  }
}

/** The system call's number, by Node's name of the architecture. */
const umount2Numbers: Readonly<Record<string, number>> = { x64: 166, arm64: 39 }
