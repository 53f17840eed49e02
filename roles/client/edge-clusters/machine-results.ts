import { machinesOf, type EdgeCluster, type StepStatus } from '@skerry/provisioning'
import { tableLines } from '../text/print-table.ts'
import { plainText } from '../text/plain-text.ts'

/** How far one machine has come. */
export interface MachineResult {
  readonly address: string
  readonly role: string
  /** The name of its node; omitted until the machine has said its host name. */
  readonly node?: string
  /** The name of its member in the site's etcd; omitted until it votes. */
  readonly member?: string
  readonly state:
    | 'Pending'
    | 'Running'
    | 'Retrying'
    | 'Waiting'
    | 'Failed'
    | 'Cancelled'
    | 'Checked'
    | 'Ready'
    | 'Clean'
  /** The step that has failed, runs or is next; omitted when all are done. */
  readonly step?: string
  readonly message: string
  readonly findings?: readonly string[]
}

/** Returns a result for each machine of an edge cluster, in the order of its spec; then come those that leave it. */
export function machineResults(edge: EdgeCluster): MachineResult[] {
  const { spec, status } = edge
  const known = new Map((status?.machines ?? []).map((each) => [each.address, each]))
  const stepsOf = Map.groupBy(status?.steps ?? [], ({ machine = '' }) => machine)
  const planned = machinesOf(spec)
  const staying = new Set(planned.map(({ address }) => address))
  const leaving = [...known.values()].filter(({ address }) => !staying.has(address))
  return [...planned, ...leaving].map(({ address, role }) => {
    const { node, member, unknownHostKey } = known.get(address) ?? {}
    const steps = stepsOf.get(address) ?? []
    const { step, state } = stateOf(steps, {
      isStrange: unknownHostKey !== undefined,
      whenDone: staying.has(address) ? doneState(edge) : 'Clean',
    })
    const message = plainText(step?.message ?? steps.at(-1)?.message ?? '')
    return {
      address,
      role,
      ...(node === undefined ? {} : { node: plainText(node) }),
      ...(member === undefined ? {} : { member: plainText(member) }),
      state,
      ...(step === undefined ? {} : { step: step.name }),
      message,
      ...(step?.findings === undefined ? {} : { findings: step.findings.map(plainText) }),
    }
  })
}

function doneState({ metadata, status }: EdgeCluster): MachineResult['state'] {
  if (metadata.deletionTimestamp !== undefined) return 'Clean'
  return status?.mode === 'Check' ? 'Checked' : 'Ready'
}

interface Found {
  readonly state: MachineResult['state']
  readonly step?: StepStatus
}

function stateOf(
  steps: readonly StepStatus[],
  { isStrange, whenDone }: { readonly isStrange: boolean; readonly whenDone: Found['state'] },
): Found {
  const found = (is: (step: StepStatus) => boolean): StepStatus | undefined => steps.find(is)
  const failed = found(({ state }) => state === 'Failed')
  if (failed !== undefined) return { state: isStrange ? 'Waiting' : 'Failed', step: failed }
  const cancelled = found(({ state }) => state === 'Cancelled')
  if (cancelled !== undefined) return { state: 'Cancelled', step: cancelled }
  const running = found(({ state }) => state === 'Running')
  if (running !== undefined) return { state: 'Running', step: running }
  const again = found(({ nextTime }) => nextTime !== undefined)
  if (again !== undefined) return { state: 'Retrying', step: again }
  const next = found(({ state }) => state === 'Waiting')
  if (next !== undefined) return { state: 'Pending', step: next }
  return { state: steps.length === 0 ? 'Pending' : whenDone }
}

/** Formats a line for each machine. If the site has an etcd, a column names the members that vote. */
export function resultLines(results: readonly MachineResult[]): string[] {
  const hasMembers = results.some(({ member }) => member !== undefined)
  const ofMember = (text: string): string[] => (hasMembers ? [text] : [])
  const head = ['ADDRESS', 'ROLE', 'NODE', ...ofMember('MEMBER'), 'STATE', 'STEP', 'MESSAGE']
  const rows = results.map((result) => {
    const { address, role, node = '-', member = '-', state, step = '-', message } = result
    return [address, role, node, ...ofMember(member), state, step, message]
  })
  return tableLines([head, ...rows], [])
}
