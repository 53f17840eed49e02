import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deviceOpener } from './link-network.ts'

const execute = promisify(execFile)

/** The switch's namespace and the port at which a host hangs. */
export interface CablePlace {
  readonly wan: string
  readonly port: string
}

export interface CableOptions {
  readonly oneWayMs: number
  /** The share of packets that are lost, in each direction. */
  readonly lossPercent: number
  /** In each direction. If omitted, a hundred megabits. */
  readonly bytesPerSecond?: number
}

const usualBytesPerSecond = 12_500_000
const queueMs = 200

/**
 * Makes the cable between a host and the switch long and bad until disposed: the port hangs at a second switch, and a
 * process carries frames between the two. The host notices nothing but the delay.
 */
export async function slowCable(
  { wan, port }: CablePlace,
  { oneWayMs, lossPercent, bytesPerSecond = usualBytesPerSecond }: CableOptions,
): Promise<AsyncDisposable> {
  const ip = (...args: string[]) => execute('ip', ['-n', wan, ...args])
  const [far, near, away] = [`f-${port}`, `n-${port}`, `s-${port}`]
  await ip('link', 'add', away, 'type', 'bridge')
  await ip('link', 'set', away, 'up')
  for (const [device, bridge] of [
    [far, away],
    [near, 'switch'],
  ] as const) {
    await ip('tuntap', 'add', 'dev', device, 'mode', 'tap')
    await ip('link', 'set', device, 'master', bridge, 'up')
  }
  const [first, ...rest] = [
    'ip',
    'netns',
    'exec',
    wan,
    ...deviceOpener(far, 'tap'),
    ...deviceOpener(near, 'tap'),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'delayed-link.ts'),
    '3',
    '4',
    ...[oneWayMs, bytesPerSecond, queueMs, lossPercent].map(String),
  ]
  const carrier = spawn(first, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(carrier.stdout, 'data')
  await ip('link', 'set', port, 'master', away)
  return {
    async [Symbol.asyncDispose]() {
      await ip('link', 'set', port, 'master', 'switch')
      const exited = once(carrier, 'exit')
      carrier.kill('SIGKILL')
      await exited
      for (const device of [far, near, away]) await ip('link', 'delete', device)
    },
  }
}
