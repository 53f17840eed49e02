import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export const cloudAddress = '10.98.1.1'
export const edgeAddress = '10.98.1.2'

/** Two places, each a network namespace, and the only way between them: a link. */
export interface LinkNetwork extends AsyncDisposable {
  /** A prefix that runs a command in that place. */
  readonly cloud: readonly string[]
  readonly edge: readonly string[]
  /** The process that carries packets; SIGUSR2 cuts and restores the link. */
  readonly linkPid: number
}

export interface LinkOptions {
  oneWayMs: number
  bytesPerSecond: number
  /** The queue of a router, in time of the link; packets beyond it are dropped. */
  queueMs: number
  mtu: number
}

/** 50 ms there and back, 200 Mbit/s. Few and large packets: the link is a process on this machine, too. */
const longCable: LinkOptions = { oneWayMs: 25, bytesPerSecond: 25_000_000, queueMs: 50, mtu: 9_000 }
const device = 'long0'

/** Creates the network. Needs root, perl (it opens the devices) and /dev/net/tun. */
export async function createLinkNetwork(options: LinkOptions = longCable): Promise<LinkNetwork> {
  const { oneWayMs, bytesPerSecond, queueMs, mtu } = options
  const id = process.pid.toString(36)
  const [cloud, edge] = [`skc-${id}`, `ske-${id}`]
  const enter = (name: string): string[] => ['ip', 'netns', 'exec', name]
  const names = [cloud, edge]
  const abandoned = (): void => {
    for (const name of names) spawnSync('ip', ['netns', 'delete', name])
  }
  process.once('exit', abandoned)
  for (const name of names) {
    await execute('ip', ['netns', 'add', name])
    await execute('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    await execute('ip', ['-n', name, 'tuntap', 'add', 'dev', device, 'mode', 'tun'])
  }
  const [first, ...rest] = [
    ...enter(cloud).concat(deviceOpener(device, 'tun')),
    ...enter(edge).concat(deviceOpener(device, 'tun')),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'delayed-link.ts'),
  ]
  // Perl opens each device as the next free descriptor: 3 and 4.
  const link = spawn(
    first,
    [...rest, '3', '4', ...[oneWayMs, bytesPerSecond, queueMs].map(String)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(link.stdout, 'data')
  const ends = [
    [cloud, cloudAddress, edgeAddress],
    [edge, edgeAddress, cloudAddress],
  ] as const
  for (const [name, own, peer] of ends) {
    await execute('ip', ['-n', name, 'address', 'add', own, 'peer', peer, 'dev', device])
    await execute('ip', ['-n', name, 'link', 'set', device, 'mtu', String(mtu), 'up'])
  }
  return {
    cloud: enter(cloud),
    edge: enter(edge),
    linkPid: link.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const exited = once(link, 'exit')
      link.kill('SIGKILL')
      await exited
      for (const name of names) await execute('ip', ['netns', 'delete', name])
      process.off('exit', abandoned)
    },
  }
}

/**
 * Returns a command that opens the device of its own namespace and becomes the command that follows, which inherits
 * the descriptor: IP packets of a `tun` device, Ethernet frames of a `tap` device. Node cannot call ioctl(TUNSETIFF).
 */
export function deviceOpener(name: string, kind: 'tun' | 'tap'): string[] {
  // IFF_TUN or IFF_TAP, with IFF_NO_PI.
  const flags = kind === 'tun' ? '0x1001' : '0x1002'
  const script = [
    '$^F = 255',
    'open(my $device, "+<", "/dev/net/tun") or die "Cannot open /dev/net/tun: $!\\n"',
    `my $request = pack("a16 s x22", "${name}", ${flags})`,
    'ioctl($device, 0x400454ca, $request) or die "Cannot attach: $!\\n"',
    'exec @ARGV',
  ]
  return ['perl', '-e', script.join('; '), '--']
}
