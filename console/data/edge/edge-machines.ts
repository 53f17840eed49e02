/** Changes of the machines of an edge cluster, as patches of its object. Pure. */
import { expandAddresses } from './address-range.ts'
import type { EdgeBlock, EdgeClusterObject } from './edge-cluster.ts'
import { filled } from '../browser/form-values.ts'

export interface Removal {
  readonly address: string
  /** It will never answer again: its node goes at once, and nothing is cleaned. */
  readonly isDead: boolean
}

export interface Replacement {
  readonly address: string
  readonly acceptsNewKeys: boolean
}

/**
 * Returns the merge patch by which a machine leaves, and perhaps another one takes its place with everything that its block
 * says but the host keys. The server refuses it if somebody has changed the object meanwhile. A machine that is leaving
 * already can only be called dead.
 */
export function removalPatch(
  { metadata, spec }: EdgeClusterObject,
  { address, isDead }: Removal,
  replacement?: Replacement,
): unknown {
  const { resourceVersion, annotations = {} } = metadata
  const blocks = spec.machines ?? []
  const block = blocks.find((each) => hasAddress(each, address))
  const known = annotations[deadAsk]?.split(',') ?? []
  const asked = isDead
    ? { annotations: { [deadAsk]: [...new Set([...known, address])].join(',') } }
    : {}
  const left = blocks.flatMap((each) => (each === block ? without(each, address) : [each]))
  const machines =
    block === undefined || replacement === undefined
      ? left
      : [...left, replaced(block, replacement)]
  return {
    metadata: { resourceVersion, ...asked },
    ...(block === undefined ? {} : { spec: { machines } }),
  }
}

const deadAsk = 'hub.skerry.io/dead'

function hasAddress({ addresses }: EdgeBlock, address: string): boolean {
  return addresses.some((text) => expandAddresses(text).includes(address))
}

/** A range is written as single addresses, and a block without any goes. */
function without(block: EdgeBlock, address: string): EdgeBlock[] {
  const addresses = block.addresses.flatMap((text) => {
    const all = expandAddresses(text)
    return all.includes(address) ? all.filter((each) => each !== address) : [text]
  })
  return addresses.length === 0 ? [] : [{ ...block, addresses }]
}

function replaced(block: EdgeBlock, { address, acceptsNewKeys }: Replacement): unknown {
  const fields: Readonly<Record<string, unknown>> = { ...block }
  const { hostKeys: _, acceptNewHostKeys: __, ...rest } = fields
  return filled({
    ...rest,
    addresses: [address.trim()],
    acceptNewHostKeys: acceptsNewKeys ? true : undefined,
  })
}

/** Returns the patch by which a deletion leaves the machines running. */
export const keepMachinesPatch: unknown = { spec: { deletion: { machines: 'Keep' } } }
