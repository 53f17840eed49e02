import { ExpectedError, exitCodes } from '@skerry/base'
import {
  edgeClusterAsks,
  machinesOf,
  withoutAddress,
  type EdgeCluster,
  type MachineBlock,
} from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  changeEdge,
  namespaceWords,
  openEdge,
  soon,
  toldPlainly,
  type EdgeAccess,
  type EdgeChange,
  type EdgeOptions,
} from './edge-cluster-access.ts'
import { followEdge, printerOf, processOutput } from './edge-cluster-watch.ts'
import { machineBlocks, parseHostKeys, parseMachine } from './machine-blocks.ts'
import { checkSecret } from './machine-login.ts'

export interface RemoveOptions extends EdgeOptions {
  address: string
  dead: boolean | undefined
  wait: boolean | undefined
}

/** Removes a machine from an EdgeCluster; the hub then takes it out of the cluster. Throws an ExpectedError. */
export async function removeNode(options: RemoveOptions): Promise<void> {
  const { name, address, dead } = options
  await toldPlainly(`remove ${address} from edge cluster ${name}`, async () => {
    const access = await openEdge(options)
    await changeEdge(access, (edge) => {
      const left = withoutAddress(edge.spec.machines, address)
      if (left === undefined) checkLeaving(edge, options)
      return changeOf(edge, { machines: left?.blocks, dead: dead ? address : undefined })
    })
    await report(access, options, `takes ${address} out of the cluster`)
  })
}

export interface ReplaceOptions extends RemoveOptions {
  /** The new machine, as `[user@]address[:port]`. */
  replacement: string
  credentials: string | undefined
  hostKey: string[]
  acceptNewHostKeys: boolean | undefined
}

/** Puts a machine in the place of another one, with everything that its block says. Throws an ExpectedError. */
export async function replaceNode(options: ReplaceOptions): Promise<void> {
  const { name, namespace, address, replacement, credentials, dead } = options
  await toldPlainly(`replace ${address} of edge cluster ${name}`, async () => {
    const named = parseMachine(replacement)
    const keys = parseHostKeys(options.hostKey)
    const access = await openEdge(options)
    if (credentials !== undefined) {
      await checkSecret(access.hub, { namespace, name: credentials }, soon())
    }
    await changeEdge(access, (edge) => {
      const left = withoutAddress(edge.spec.machines, address)
      if (left === undefined) throw unknown(edge, address)
      // The keys of the block are those of other machines.
      const { hostKeys: _, addresses: __, ...rest } = left.block
      const secret = credentials ?? rest.credentials.name
      const rules = { credentials: secret, hostKeys: keys, acceptNewHostKeys: false, labels: {} }
      const made = machineBlocks([named], rules).map((block): MachineBlock => {
        const { role: ___, ...fields } = block
        const accepts = options.acceptNewHostKeys ? { acceptNewHostKeys: true } : {}
        return { ...rest, ...fields, ...accepts }
      })
      return changeOf(edge, {
        machines: [...left.blocks, ...made],
        dead: dead ? address : undefined,
      })
    })
    await report(access, options, `puts ${named.address} in the place of ${address}`)
  })
}

/** A machine that has left the spec may still be on its way: then it can be called dead. */
function checkLeaving(edge: EdgeCluster, { address, dead }: RemoveOptions): void {
  const isLeaving = edge.status?.machines?.some((each) => each.address === address) === true
  if (!isLeaving) throw unknown(edge, address)
  if (dead) return
  const text = `Cannot remove ${address}: it is leaving already; if its machine will never answer again, add --dead`
  throw new ExpectedError(text, exitCodes.usage)
}

function unknown({ spec, metadata }: EdgeCluster, address: string): ExpectedError {
  const known = machinesOf(spec).map((machine) => machine.address)
  const text = `Cannot find machine ${address}: ${metadata.name} has ${known.join(', ')}`
  return new ExpectedError(text, exitCodes.usage)
}

interface Change {
  readonly machines: MachineBlock[] | undefined
  readonly dead: string | undefined
}

function changeOf({ metadata }: EdgeCluster, { machines, dead }: Change): EdgeChange {
  const known = metadata.annotations?.[edgeClusterAsks.dead]?.split(',') ?? []
  return {
    ...(dead === undefined
      ? {}
      : { annotations: { [edgeClusterAsks.dead]: [...new Set([...known, dead])].join(',') } }),
    ...(machines === undefined ? {} : { spec: { machines } }),
  }
}

async function report(access: EdgeAccess, options: RemoveOptions, told: string): Promise<void> {
  const { name, namespace, address, output, wait } = options
  if (wait) return followEdge(access, printerOf(output, processOutput()), stopSignal())
  if (output === 'json') return console.log(JSON.stringify({ name, namespace, removed: address }))
  const place = namespaceWords(namespace)
  console.log(`The hub ${told}; see "skerry edge-cluster watch ${name}${place}"`)
}
