import { quantityToMilli, quantityToNumber } from '@skerry/api'

/** The free room of one node: thousandths of a CPU, whole units of everything else, including pods. */
export type NodeRoom = Readonly<Record<string, number>>

/** Returns how many replicas of this request fit. Resources that schedulers do not count are ignored. */
export function replicasOn(room: NodeRoom, request: Readonly<Record<string, string>>): number {
  const counts = Object.entries(amountsOf(request)).map(([name, amount]) =>
    Math.floor((room[name] ?? 0) / amount),
  )
  return Math.min(room['pods'] ?? 0, ...counts)
}

/** The room without so many replicas of the request. */
export function withReplicas(
  room: NodeRoom,
  request: Readonly<Record<string, string>>,
  replicas: number,
): NodeRoom {
  const rest: Record<string, number> = { ...room, pods: (room['pods'] ?? 0) - replicas }
  for (const [name, amount] of Object.entries(amountsOf(request))) {
    rest[name] = Math.max(0, (rest[name] ?? 0) - amount * replicas)
  }
  return rest
}

export function roomOf(quantities: Readonly<Record<string, string>>, pods: number): NodeRoom {
  return { ...amountsOf(quantities), pods }
}

function amountsOf(quantities: Readonly<Record<string, string>>): Record<string, number> {
  const amounts: Record<string, number> = {}
  for (const [name, text] of Object.entries(quantities)) {
    if (!isCounted(name)) continue
    const amount = name === 'cpu' ? quantityToMilli(text) : quantityToNumber(text)
    if (amount > 0) amounts[name] = amount
  }
  return amounts
}

/** Counts cpu, memory, ephemeral storage and named resources. Each replica is one pod. */
function isCounted(name: string): boolean {
  return (
    ['cpu', 'memory', 'ephemeral-storage'].includes(name) ||
    name.includes('/') ||
    name.startsWith('hugepages-') ||
    name.startsWith('attachable-volumes-')
  )
}
