/** How far each machine of an edge cluster has come. Pure. */
import { expandAddresses } from './address-range.ts'
import type { EdgeClusterObject, EdgeMachine, EdgeStep } from './edge-cluster.ts'

/** In the order in which a person looks at them. */
const machineStates = [
  'Failed',
  'Waiting',
  'Retrying',
  'Running',
  'Pending',
  'Cancelled',
  'Done',
] as const

export type MachineState = (typeof machineStates)[number]

export interface MachineResult {
  readonly address: string
  readonly role: EdgeMachine['role']
  /** The name of its node; empty until the machine has said it. */
  readonly node: string
  readonly state: MachineState
  /** The step that has failed, runs or is next; omitted when all are done. */
  readonly step?: EdgeStep
  readonly message: string
  /** The spec does not name it any more. */
  readonly isLeaving: boolean
}

/** Returns a result for each machine, those that need somebody first. */
export function machineResults({ spec, status }: EdgeClusterObject): MachineResult[] {
  const { machines = [], steps = [] } = status ?? {}
  const stepsOf = Map.groupBy(steps, ({ machine = '' }) => machine)
  const named = new Set(
    (spec.machines ?? []).flatMap(({ addresses }) => addresses.flatMap(expandAddresses)),
  )
  return machines
    .map(({ address, role, node = '', unknownHostKey }): MachineResult => {
      const own = stepsOf.get(address) ?? []
      const { state, step } = stateOf(own, unknownHostKey !== undefined)
      return {
        address,
        role,
        node,
        state,
        ...(step === undefined ? {} : { step }),
        message: (step ?? own.at(-1))?.message ?? '',
        isLeaving: !named.has(address),
      }
    })
    .toSorted((a, b) => machineStates.indexOf(a.state) - machineStates.indexOf(b.state))
}

/** A key that nobody has accepted fails the step that saw it, and waits for a person. */
function stateOf(
  steps: readonly EdgeStep[],
  hasStrangeKey: boolean,
): Pick<MachineResult, 'state' | 'step'> {
  const order: readonly (readonly [MachineState, (step: EdgeStep) => boolean])[] = [
    [hasStrangeKey ? 'Waiting' : 'Failed', ({ state }) => state === 'Failed'],
    ['Cancelled', ({ state }) => state === 'Cancelled'],
    ['Running', ({ state }) => state === 'Running'],
    ['Retrying', ({ nextTime }) => nextTime !== undefined],
    ['Pending', ({ state }) => state === 'Waiting'],
  ]
  for (const [state, is] of order) {
    const step = steps.find(is)
    if (step !== undefined) return { state, step }
  }
  return { state: steps.length === 0 ? 'Pending' : 'Done' }
}
