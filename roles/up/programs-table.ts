/** A node at run time; a master with a virtual IP; every test; or the end-to-end tests in addition. */
export type ProgramUser = 'node' | 'virtual IP' | 'tests' | 'end-to-end tests'

/** A program outside this repository, and the Debian package that brings it. */
export interface SystemProgram {
  readonly program: string
  readonly debianPackage: string
  readonly neededBy: ProgramUser
  /** The directories to search instead of the usual ones. */
  readonly directories?: readonly string[]
  /** A unit that the package starts and enables, and that is not wanted here. */
  readonly service?: string
  /** A package of another build has the same program, linked with libraries and with less in it. */
  readonly isStatic?: boolean
  /** Whether its tests run without root, too; all others are skipped there. */
  readonly isForUsers?: boolean
  /** The program that executes it, where no code here does. */
  readonly executedBy?: string
}

const cniDirectories = ['/usr/lib/cni']

/**
 * Every program outside this repository that product and tests execute, except those that Node, npm
 * and Debian's essential packages bring. programs.test.ts names these and compares both with the code.
 * The libraries of Node 26 itself are the launcher's business: this table needs Node to be read.
 */
export const systemPrograms: readonly SystemProgram[] = Object.freeze([
  {
    program: 'containerd',
    debianPackage: 'containerd',
    neededBy: 'node',
    service: 'containerd.service',
  },
  { program: 'ctr', debianPackage: 'containerd', neededBy: 'node' },
  { program: 'runc', debianPackage: 'runc', neededBy: 'node', executedBy: 'containerd' },
  ...['bridge', 'host-local', 'loopback', 'portmap'].map((program) => ({
    program,
    debianPackage: 'containernetworking-plugins',
    neededBy: 'node' as const,
    directories: cniDirectories,
    executedBy: 'containerd',
  })),
  { program: 'nft', debianPackage: 'nftables', neededBy: 'node' },
  { program: 'ip', debianPackage: 'iproute2', neededBy: 'node' },
  { program: 'bridge', debianPackage: 'iproute2', neededBy: 'node' },
  { program: 'iptables', debianPackage: 'iptables', neededBy: 'node', executedBy: 'portmap' },
  { program: 'mount', debianPackage: 'mount', neededBy: 'node' },
  { program: 'umount', debianPackage: 'mount', neededBy: 'node' },
  { program: 'modprobe', debianPackage: 'kmod', neededBy: 'node' },
  { program: 'busybox', debianPackage: 'busybox-static', neededBy: 'tests', isStatic: true },
  {
    program: 'keepalived',
    debianPackage: 'keepalived',
    neededBy: 'virtual IP',
    service: 'keepalived.service',
    executedBy: 'systemd',
  },
  { program: 'curl', debianPackage: 'curl', neededBy: 'virtual IP' },
  {
    program: 'etcd',
    debianPackage: 'etcd-server',
    neededBy: 'tests',
    service: 'etcd.service',
    isForUsers: true,
  },
  { program: 'tc', debianPackage: 'iproute2', neededBy: 'tests' },
  { program: 'etcdctl', debianPackage: 'etcd-client', neededBy: 'tests' },
  { program: 'curl', debianPackage: 'curl', neededBy: 'tests', isForUsers: true },
  { program: 'ps', debianPackage: 'procps', neededBy: 'tests' },
  { program: 'pkill', debianPackage: 'procps', neededBy: 'tests' },
  { program: 'strace', debianPackage: 'strace', neededBy: 'tests', isForUsers: true },
  { program: 'conntrack', debianPackage: 'conntrack', neededBy: 'end-to-end tests' },
  { program: 'faketime', debianPackage: 'faketime', neededBy: 'end-to-end tests' },
  {
    program: 'chromium',
    debianPackage: 'chromium',
    neededBy: 'end-to-end tests',
    executedBy: 'playwright-core',
  },
  { program: 'mmdebstrap', debianPackage: 'mmdebstrap', neededBy: 'end-to-end tests' },
])
