import { isIPv4 } from 'node:net'
import { numberOf } from '../kind/address-range.ts'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type OwnMachineContext, type StepContext } from '../contract/step.ts'
import type { OwnShell, RunOptions } from '../contract/shell.ts'

const { lookMs } = provisioningBounds.steps

/** Where things are on every machine. */
export const places = Object.freeze({
  program: '/usr/local/bin/skerry',
  programs: '/usr/local/lib/skerry',
  settings: '/etc/skerry',
  data: '/var/lib/skerry',
  packages: '/var/lib/skerry/packages',
  blobs: '/var/lib/skerry/packages/blobs/sha256',
  /** Image archives that the node imports when it starts. */
  images: '/var/lib/skerry/images',
  /** The operator's public key, and the note about the last package. */
  packageKey: '/etc/skerry/package.pub',
  packageRecord: '/var/lib/skerry/packages/installed.json',
  /** The plan of a machine, which says to which cluster it belongs; so do the settings of the roles that run there. */
  plan: '/etc/skerry/machine.json',
  roleSettings: '/var/lib/skerry/settings.json',
  hubToken: '/etc/skerry/hub-token',
  joinToken: '/etc/skerry/join-token',
  /** Opens every key of the cluster, so it is nowhere else, and goes when the master has joined. */
  masterToken: '/etc/skerry/master-token',
  /** The change for which a job awaits a person's confirmation, and the confirmation. */
  awaited: '/var/lib/skerry/awaited-confirmation.json',
  confirmed: '/var/lib/skerry/confirmation.json',
  allowedDials: '/etc/skerry/allow-dial.d',
})

/** Runs a command that changes nothing, and resolves with its output. Rejects with a StepError if it fails. */
export function ask(
  context: Pick<OwnMachineContext, 'shell' | 'print' | 'signal'>,
  command: readonly [string, ...string[]],
  options: Pick<RunOptions, 'timeoutMs'> = {},
): Promise<string> {
  return must(context, command, { ...options, isQuiet: true, keepsFiles: true })
}

/** Runs a command, prints what it printed, and resolves with its output. Rejects with a StepError if it fails. */
export async function must(
  { shell, print, signal }: Pick<OwnMachineContext, 'shell' | 'print' | 'signal'>,
  command: readonly [string, ...string[]],
  options: Omit<RunOptions, 'signal'> & { readonly isQuiet?: boolean } = {},
): Promise<string> {
  const { isQuiet = false, ...rest } = options
  const { exitCode, stdout, stderr } = await shell.run(command, { ...rest, signal })
  if (!isQuiet && stdout.trim() !== '') print(stdout)
  if (stderr.trim() !== '') print(stderr)
  if (exitCode === 0) return stdout
  const why = lastLine(stderr) || lastLine(stdout) || 'it printed nothing'
  throw new StepError(`${command.slice(0, 3).join(' ')} exited with ${exitCode}: ${why}`)
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? ''
}

/** Looks again and again until `look` resolves true. Rejects with a StepError after `msMax`. */
export async function untilTrue(
  look: () => Promise<boolean>,
  { msMax, otherwise }: { readonly msMax: number; readonly otherwise: string },
  { clock, signal }: Pick<StepContext, 'clock' | 'signal'>,
): Promise<void> {
  const endMs = clock.monotonicMs() + msMax
  while (!(await look())) {
    if (clock.monotonicMs() >= endMs) throw new StepError(`${otherwise} after ${msMax / 1_000} s`)
    await clock.sleep(lookMs, signal)
  }
}

/** Returns the IPv4 address by which the cluster knows the machine: of the wished interface, or the one of SSH. */
export async function addressOf(
  shell: OwnShell,
  { address, networkInterface }: { address: string; networkInterface: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  const links = await linksOf(shell, signal)
  if (networkInterface !== undefined) {
    const found = links.find(({ name }) => name === networkInterface)?.addresses[0]
    if (found !== undefined) return found
    const names = links.map(({ name }) => name).join(', ')
    const text = `spec.networkInterface names ${networkInterface}, which has no IPv4 address; there are ${names}`
    throw new StepError(text, { isFinal: true })
  }
  const own = links.flatMap(({ addresses }) => addresses)
  if (own.includes(address)) return address
  // A name, or an address that another box translates.
  const first = links.find(({ name }) => name !== 'lo')?.addresses[0]
  if (first === undefined) throw new StepError('the machine has no IPv4 address', { isFinal: true })
  return first
}

/** Returns every IPv4 address that the machine has. */
export async function ownAddresses(shell: OwnShell, signal: AbortSignal): Promise<string[]> {
  return (await linksOf(shell, signal)).flatMap(({ addresses }) => addresses)
}

/** Returns the interface that has an address, and the range that is reached by it. */
export async function linkOf(
  shell: OwnShell,
  address: string,
  signal: AbortSignal,
): Promise<{
  readonly name: string
  readonly range: string
  readonly holds: (other: string) => boolean
}> {
  const links = await linksOf(shell, signal)
  const link = links.find(({ addresses }) => addresses.includes(address))
  const bits = link?.prefixes[link.addresses.indexOf(address)] ?? 32
  if (link === undefined) throw new StepError(`no interface of the machine has ${address}`)
  const size = 2 ** (32 - bits)
  const network = (text: string): number => Math.floor(numberOf(text) / size)
  return {
    name: link.name,
    range: `${address}/${bits}`,
    holds: (other) => network(other) === network(address),
  }
}

async function linksOf(shell: OwnShell, signal: AbortSignal): Promise<Link[]> {
  const command = ['ip', '-json', '-4', 'address', 'show'] as const
  const { exitCode, stdout } = await shell.run(command, { signal, keepsFiles: true })
  if (exitCode !== 0) throw new StepError('the machine does not list its addresses')
  return parseLinks(stdout)
}

interface Link {
  readonly name: string
  readonly addresses: readonly string[]
  /** The bits of the network of each address. */
  readonly prefixes: readonly number[]
}

function parseLinks(text: string): Link[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new StepError('the machine lists its addresses in words that are not JSON')
  }
  if (!Array.isArray(parsed)) throw new StepError('the machine does not list its addresses')
  return parsed.flatMap((link: unknown) => {
    if (typeof link !== 'object' || link === null || !('ifname' in link)) return []
    const list: unknown = 'addr_info' in link ? link.addr_info : []
    const known = (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
      const isNamed = typeof each === 'object' && each !== null && 'local' in each
      if (!isNamed || typeof each.local !== 'string' || !isIPv4(each.local)) return []
      const bits = 'prefixlen' in each ? Number(each.prefixlen) : 32
      return [{ address: each.local, bits: bits >= 0 && bits <= 32 ? bits : 32 }]
    })
    const addresses = known.map(({ address }) => address)
    return [{ name: String(link.ifname), addresses, prefixes: known.map(({ bits }) => bits) }]
  })
}
