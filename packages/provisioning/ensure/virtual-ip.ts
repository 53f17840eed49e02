import { isIPv4 } from 'node:net'
import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { ShellError } from '../contract/shell.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { addressOf, linkOf, must, places } from './commands.ts'
import { exists, readSmall } from './job-files.ts'
import { installPackage } from './install-package.ts'
import { prepare } from './install-program.ts'
import { checkPath, checkScript, keepalivedText } from './keepalived-text.ts'
import { startUnit } from './site.ts'
import { writePlan } from './plan-on-machine.ts'
import { virtualIpFinding } from './virtual-ip-holder.ts'

/** The name of the step. A status that lists it shows that there was a virtual IP. */
export const virtualIpName = 'SetVirtualIP'

const directory = `${places.settings}/virtual-ip`
const configuration = `${directory}/keepalived.conf`
const unit = 'skerry-virtual-ip'

/** Returns true if the object asks for a virtual IP, or has had one before, which must go. */
export function hasVirtualIp({ spec, status }: EdgeCluster): boolean {
  if (spec.highAvailability?.type === 'VirtualIP') return true
  return (status?.steps ?? []).some(({ name }) => name === virtualIpName)
}

/** Returns everything that the masters must agree on: another master is another peer of each. */
export function virtualIpOf({ spec }: EdgeCluster, machines: readonly PlannedMachine[]): unknown {
  return [spec.highAvailability, mastersOf(machines).map(({ address }) => address)]
}

/**
 * Lets this master hold the virtual IP while its site is ready: Debian's keepalived, with a unit and a configuration of
 * its own. A change of the masters reloads it, so that the address stays where it is.
 */
export async function setVirtualIp(context: MachineContext): Promise<string> {
  const { edge, shell } = context
  const { type, address = '' } = edge.spec.highAvailability ?? {}
  if (type !== 'VirtualIP') return removeVirtualIp(context)
  const text = await configurationText(context, address)
  await mustBeFree(address, context)
  const plan = await writePlan(context)
  if (packageInForce(edge) !== undefined) await installPackage(context)
  await prepare(context, plan)
  await shell.write(checkPath, checkScript, 0o700)
  await shell.write(configuration, text, 0o600)
  if (await isActive(context)) await must(context, ['systemctl', 'reload', unit])
  else await startUnit(unit, context)
  return `${address} comes to this master when it is needed`
}

async function removeVirtualIp(context: MachineContext): Promise<string> {
  if (await exists(context, `/etc/systemd/system/${unit}.service`)) {
    await must(context, ['systemctl', 'disable', '--now', '--quiet', unit])
  }
  await must(context, ['rm', '-rf', '--', directory])
  await writePlan(context)
  return 'there is no virtual IP any more'
}

/** Somebody may have taken the address since the preflight, which knew no address if the object has got it later. */
async function mustBeFree(address: string, context: MachineContext): Promise<void> {
  // An address that is written here was free.
  const before = (await readSmall(context, configuration)) ?? ''
  if (before.split(/\s/).includes(`${address}/32`)) return
  const finding = await virtualIpFinding(context, { isMember: false })
  if (finding === undefined) return
  throw new StepError(`${context.machine.address}: ${finding}`, { isFinal: true })
}

async function isActive({ shell, signal }: MachineContext): Promise<boolean> {
  const command = ['systemctl', 'is-active', '--quiet', unit] as const
  return (await shell.run(command, { signal, keepsFiles: true })).exitCode === 0
}

function mastersOf(machines: readonly PlannedMachine[]): readonly PlannedMachine[] {
  return machines.filter(({ role }) => role === 'Master')
}

async function configurationText(context: MachineContext, virtual: string): Promise<string> {
  const { edge, machine, machines, shell, signal } = context
  const { networkInterface } = edge.spec
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const link = await linkOf(shell, address, signal)
  if (!link.holds(virtual)) {
    const why = `the network of ${link.name} (${link.range}) does not have spec.highAvailability.address ${virtual}: choose an address there that no machine has`
    throw new StepError(`${machine.address}: ${why}`, { isFinal: true })
  }
  const peers: string[] = []
  for (const each of mastersOf(machines)) {
    if (each.address !== machine.address) peers.push(await peerOf(each, context))
  }
  const router = edge.spec.highAvailability?.virtualRouterId ?? defaultRouterId(virtual)
  // The first of the object comes first where all are ready.
  const priority = 200 - mastersOf(machines).findIndex((each) => each.address === machine.address)
  return keepalivedText({ virtual, address, link: link.name, router, priority, peers })
}

/** Returns the address at which a master hears this one. One that is away is taken at its word. */
async function peerOf(peer: PlannedMachine, context: MachineContext): Promise<string> {
  const { edge, signal } = context
  const { networkInterface } = edge.spec
  try {
    const shell = await context.shellOf(peer)
    return await addressOf(shell, { address: peer.address, networkInterface }, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ShellError) || !isIPv4(peer.address)) throw error
    return peer.address
  }
}

/** Returns an id from 1 to 255 that differs from those of other addresses in most networks. */
function defaultRouterId(address: string): number {
  return Number(address.split('.').at(-1)) || 255
}
