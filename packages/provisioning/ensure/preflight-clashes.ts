import { createHash } from 'node:crypto'
import type { MachineStatus } from '../kind/edge-cluster.ts'
import type { MachineContext } from '../contract/step.ts'
import { ShellError } from '../contract/shell.ts'
import { places } from './commands.ts'

/** The facts that a machine tells about itself, in which it may clash with others. */
export interface Identity {
  readonly address: string
  readonly node: string
  readonly machineIdDigest: string | undefined
}

/** The digest of a machine id, which itself should stay on its machine (machine-id(5)). */
export function machineIdDigest(machineId: string): string | undefined {
  if (!/^[0-9a-f]{32}$/.test(machineId)) return undefined
  return createHash('sha256').update(`skerry:${machineId}`).digest('hex').slice(0, 16)
}

/** Returns the findings on machines of the same cluster with the same name or machine id. */
export function machineClashes(own: Identity, known: readonly MachineStatus[]): string[] {
  return known.flatMap(({ address, node, machineIdDigest: digest }) => {
    if (address === own.address) return []
    const isSame = digest !== undefined && digest === own.machineIdDigest
    return clashes(own, { isSameName: node === own.node, isSameId: isSame, other: address })
  })
}

/** A node that the site has already. */
export interface SeenNode {
  readonly name: string
  readonly machineIdDigest: string | undefined
  readonly addresses: readonly string[]
}

/**
 * Returns the findings on nodes that exist: one with this name elsewhere, or with this machine id under another
 * name. A node at one of the machine's own addresses is the machine itself.
 */
export function nodeClashes(
  own: Identity,
  nodes: readonly SeenNode[],
  ownAddresses: readonly string[],
): string[] {
  return nodes.flatMap(({ name, machineIdDigest: digest, addresses }) => {
    if (addresses.some((each) => ownAddresses.includes(each))) return []
    const isSame = digest !== undefined && digest === own.machineIdDigest
    return clashes(own, { isSameName: name === own.node, isSameId: isSame, other: `node ${name}` })
  })
}

interface Clash {
  readonly isSameName: boolean
  readonly isSameId: boolean
  readonly other: string
}

function clashes({ node }: Identity, { isSameName, isSameId, other }: Clash): string[] {
  return [
    ...(isSameName
      ? [`its host name ${node} is that of ${other}, too: give it another one with hostnamectl`]
      : []),
    ...(isSameId
      ? [
          `its machine id is that of ${other}, too: one is a copy; remove /etc/machine-id and run systemd-machine-id-setup`,
        ]
      : []),
  ]
}

/** Asks the master for the nodes of the site. Resolves with none as long as there is no site that answers. */
export async function nodesOfSite(context: MachineContext): Promise<SeenNode[]> {
  const { master, signal, print } = context
  if (context.edge.status?.steps?.some(isReadySite) !== true) return []
  try {
    const site = await context.shellOf(master)
    const { exitCode, stdout } = await site.run([places.program, 'machine', 'nodes'], {
      signal,
      keepsFiles: true,
    })
    return exitCode === 0 ? nodesIn(stdout) : []
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ShellError)) throw error
    print(`the master does not list its nodes: ${error.message}`)
    return []
  }
}

function isReadySite({ name, state }: { readonly name: string; readonly state: string }): boolean {
  return name === 'SiteReady' && state === 'Done'
}

/** The machine may print what it likes, so each field is checked. */
function nodesIn(text: string): SeenNode[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(parsed) ? parsed : []).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return []
    const { name, machineId, addresses } = each as Record<string, unknown>
    if (typeof name !== 'string' || !Array.isArray(addresses)) return []
    return [
      {
        name,
        machineIdDigest: machineIdDigest(typeof machineId === 'string' ? machineId : ''),
        addresses: addresses.filter((address): address is string => typeof address === 'string'),
      },
    ]
  })
}
