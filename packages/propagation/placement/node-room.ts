import { quantityToMilli, quantityToNumber } from '@skerry/api'

/** What is left on one node: thousandths of cpu, whole units of everything else, pods among them. */
export type NodeRoom = Readonly<Record<string, number>>

/** How many replicas of this request fit; resources that a scheduler does not count are passed over. */
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

/** cpu, memory and ephemeral storage, and what carries a name of its own. Each replica is one pod. */
function isCounted(name: string): boolean {
  return (
    ['cpu', 'memory', 'ephemeral-storage'].includes(name) ||
    name.includes('/') ||
    name.startsWith('hugepages-') ||
    name.startsWith('attachable-volumes-')
  )
}
