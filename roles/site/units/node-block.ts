import { ipv4Number, ipv4Text } from '@skerry/base'
import type { Store } from '@skerry/store'

/** The key under which the store of a unit's own control plane has the range from which its new nodes get theirs. */
export const blockKey = '/unit-block'

interface Network {
  /** IPv4. */
  readonly clusterCidr: string
  readonly nodeCidrMaskSize: number
}

/** One of so many parts of a cluster's range is set aside for a unit. */
const shares = 32

/**
 * Chooses a range that nobody uses, from the end of the cluster's, for nodes that join a unit while it is away. Returns a smaller one if
 * there is little room, and undefined if there is none.
 */
export function chooseBlock(
  { clusterCidr, nodeCidrMaskSize }: Network,
  taken: readonly string[],
): string | undefined {
  const [base = '', text = ''] = clusterCidr.split('/')
  const length = Number(text)
  const start = ipv4Number(base)
  const used = taken.map(toRange)
  const first = Math.min(length + Math.log2(shares), nodeCidrMaskSize)
  for (let bits = first; bits <= nodeCidrMaskSize; bits += 1) {
    const size = 2 ** (32 - bits)
    for (let index = 2 ** (bits - length) - 1; index >= 0; index -= 1) {
      const from = start + index * size
      const isFree = used.every((range) => range.to <= from || range.from >= from + size)
      if (isFree) return `${ipv4Text(from)}/${bits}`
    }
  }
  return undefined
}

/** Resolves with the range from which new nodes of this cluster get theirs, if it is a unit of another one. */
export async function readBlock(store: Pick<Store, 'get'>): Promise<string | undefined> {
  const { entry } = await store.get(blockKey)
  return entry && Buffer.from(entry.value).toString().replaceAll('"', '')
}

function toRange(cidr: string): { readonly from: number; readonly to: number } {
  const [address = '', bits = ''] = cidr.split('/')
  const from = ipv4Number(address)
  return { from, to: from + 2 ** (32 - Number(bits)) }
}
