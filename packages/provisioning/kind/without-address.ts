import type { MachineBlock } from './edge-cluster.ts'
import { expandAddresses } from './machine-addresses.ts'

export interface Shortened {
  readonly blocks: MachineBlock[]
  /** The block that had the machine, as it was. */
  readonly block: MachineBlock
}

/**
 * Returns the blocks without one machine; undefined if none has it. A range is split around the address, and a block
 * that has no address left goes.
 */
export function withoutAddress(
  blocks: readonly MachineBlock[],
  address: string,
): Shortened | undefined {
  const block = blocks.find(({ addresses }) =>
    addresses.some((text) => expanded(text).includes(address)),
  )
  if (block === undefined) return undefined
  const left = blocks.flatMap((each) => {
    if (each !== block) return [each]
    const addresses = each.addresses.flatMap((text) => withoutOne(text, address))
    return addresses.length === 0 ? [] : [{ ...each, addresses }]
  })
  return { blocks: left, block }
}

function expanded(text: string): readonly string[] {
  const addresses = expandAddresses(text)
  return typeof addresses === 'string' ? [] : addresses
}

/** Returns the texts for everything that a text stands for but one address. */
function withoutOne(text: string, address: string): string[] {
  const all = expanded(text)
  const at = all.indexOf(address)
  if (at === -1) return [text]
  return [all.slice(0, at), all.slice(at + 1)].flatMap((part) => textOf(part, text))
}

/** Writes neighbours of a range as a range; their digits are those of the addresses, with leading zeros. */
function textOf(part: readonly string[], range: string): string[] {
  const [first, last] = [part[0], part.at(-1)]
  if (first === undefined || last === undefined) return []
  if (first === last) return [first]
  const [head = '', rest = ''] = range.split('[')
  const tail = rest.slice(rest.indexOf(']') + 1)
  const digits = (address: string): string =>
    address.slice(head.length, address.length - tail.length)
  return [`${head}[${digits(first)}-${digits(last)}]${tail}`]
}
