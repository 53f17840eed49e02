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
 * Returns the JSON patch by which a machine leaves, and perhaps another one takes its place with everything that its block
 * says but the host keys. The server refuses it if somebody has changed the machines meanwhile; what the hub writes into
 * the status is in nobody's way. A machine that is leaving already can only be called dead.
 */
export function removalPatch(
  { metadata, spec }: EdgeClusterObject,
  { address, isDead }: Removal,
  replacement?: Replacement,
): readonly unknown[] {
  const blocks = spec.machines ?? []
  const block = blocks.find((each) => hasAddress(each, address))
  const left = blocks.flatMap((each) => (each === block ? without(each, address) : [each]))
  const machines =
    block === undefined || replacement === undefined
      ? left
      : [...left, replaced(block, replacement)]
  return [
    ...(isDead ? deadSteps(metadata.annotations, address) : []),
    ...(block === undefined ? [] : changed('/spec/machines', blocks, machines)),
  ]
}

const deadAsk = 'hub.skerry.io/dead'

function deadSteps(annotations: EdgeClusterObject['metadata']['annotations'], address: string) {
  const known = annotations?.[deadAsk]
  const value = [...new Set([...(known?.split(',') ?? []), address])].join(',')
  if (annotations === undefined) {
    return [{ op: 'add', path: '/metadata/annotations', value: { [deadAsk]: value } }]
  }
  const path = `/metadata/annotations/${deadAsk.replace('/', '~1')}`
  return known === undefined ? [{ op: 'add', path, value }] : changed(path, known, value)
}

const changed = (path: string, before: unknown, value: unknown) => [
  { op: 'test', path, value: before },
  { op: 'replace', path, value },
]

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
