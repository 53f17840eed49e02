import type { Step } from '../contract/step.ts'
import type { StepStatus } from '../kind/edge-cluster.ts'
import type {
  EdgeJob,
  EdgeJobCluster,
  EdgeJobClusterStatus,
  EdgeJobPhase,
  EdgeJobSpec,
  JobClusterSummary,
  JobFailure,
  JobMachinePhase,
  JobMachineStatus,
  JobTotals,
} from '../kind/edge-job.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { pausedBy } from '../kind/pause.ts'
import { edgeJobBounds } from '../limits-table.ts'

const finished: ReadonlySet<StepStatus['state']> = new Set(['Done', 'Skipped'])
const { failuresMax, messageCharsMax, summaryCharsMax } = edgeJobBounds

/** The names of the steps that give a machine a phase of their own. */
export interface PhaseNames {
  readonly check: string
  readonly rollBack: string | undefined
  /** The steps whose failure is taken back. */
  readonly undone: readonly string[]
}

export function phaseNamesOf(steps: readonly Step[]): PhaseNames {
  const answer = steps.find(({ undoes }) => undoes !== undefined)
  return { check: steps[0]?.name ?? '', rollBack: answer?.name, undone: answer?.undoes ?? [] }
}

/** Returns what a job has come to on one machine. */
export function machineStatusOf(
  { address, role }: Pick<PlannedMachine, 'address' | 'role'>,
  steps: readonly StepStatus[],
  names: PhaseNames,
): JobMachineStatus {
  const own = steps.filter(({ machine }) => machine === address)
  const answer = own.find(({ name }) => name === names.rollBack)
  const work = own.filter((step) => step !== answer)
  const shown = (phase: JobMachinePhase, step?: StepStatus): JobMachineStatus => {
    const text = step?.message === undefined ? '' : `${step.name}: ${step.message}`
    const message = text === '' ? {} : { message: text.slice(0, messageCharsMax) }
    return { address, role, phase, ...message }
  }
  const failed = work.find(({ state }) => state === 'Failed')
  if (failed !== undefined) {
    if (answer === undefined || !names.undone.includes(failed.name)) return shown('Failed', failed)
    if (answer.state === 'Done') return shown('RolledBack', failed)
    const isPutRight = answer.state !== 'Failed' && answer.reason === undefined
    return isPutRight ? shown('Running', failed) : shown('Failed', answer)
  }
  const current = work.find(({ state }) => !finished.has(state))
  return current === undefined ? shown('Done') : shown(phaseAt(current, work, names), current)
}

function phaseAt(
  current: StepStatus,
  work: readonly StepStatus[],
  names: PhaseNames,
): JobMachinePhase {
  const { state, reason, nextTime, name } = current
  if (state === 'Cancelled') return 'Cancelled'
  if (reason === 'Unconfirmed') return 'WaitingForConfirmation'
  if (reason === 'Unreachable') return 'Pending'
  const isInChange = work.some((step) => names.undone.includes(step.name) && step.state === 'Done')
  if (state === 'Waiting' && nextTime === undefined && !isInChange) return 'Pending'
  return name === names.check ? 'Checking' : 'Running'
}

/** Returns what a job has come to on one cluster. */
export function clusterPhaseOf(
  machines: readonly JobMachineStatus[],
  { isCancelled }: { readonly isCancelled: boolean },
): EdgeJobPhase {
  const has = (...phases: JobMachinePhase[]): boolean =>
    machines.some(({ phase }) => phases.includes(phase))
  const isLost = machines.some(({ role, phase }) => role === 'Master' && hasFailed(phase))
  if (has('Running', 'Checking')) return 'Running'
  if (isCancelled && has('Pending', 'Cancelled', 'WaitingForConfirmation')) return 'Cancelled'
  if (has('WaitingForConfirmation')) return 'Waiting'
  if (isLost) return 'Failed'
  if (has('Pending')) return 'Pending'
  if (has('Failed', 'RolledBack')) return 'Failed'
  return has('Cancelled') ? 'Cancelled' : 'Completed'
}

export function hasFailed(phase: JobMachinePhase): boolean {
  return phase === 'Failed' || phase === 'RolledBack'
}

/** Counts the machines of a job. A cluster that was not looked at yet has as many as are `expected` of it. */
export function totalsOf(
  clusters: readonly EdgeJobCluster[],
  expected: (edgeCluster: string) => number,
): JobTotals {
  const machines = clusters.flatMap(({ status }) => status?.machines ?? [])
  const fresh = clusters.filter(({ status }) => status?.machines === undefined)
  const unseen = fresh.reduce((sum, { spec }) => sum + expected(spec.edgeCluster), 0)
  const count = (...phases: JobMachinePhase[]): number =>
    machines.filter(({ phase }) => phases.includes(phase)).length
  return {
    clusters: clusters.length,
    machines: machines.length + unseen,
    done: count('Done'),
    failed: count('Failed'),
    rolledBack: count('RolledBack'),
    waiting: count('WaitingForConfirmation'),
    running: count('Running', 'Checking'),
    pending: count('Pending', 'Cancelled') + unseen,
  }
}

/** Reports whether more machines have failed than the job tolerates. */
export function isExceeded(
  failed: number,
  machines: number,
  { failureTolerance = 0 }: Pick<EdgeJobSpec, 'failureTolerance'>,
): boolean {
  const tolerated =
    typeof failureTolerance === 'number'
      ? failureTolerance
      : Math.floor((machines * Number.parseInt(failureTolerance, 10)) / 100)
  return failed > tolerated
}

/** Returns the phase of a job. Machines that are being changed are waited for, whatever else is so. */
export function jobPhaseOf(
  clusters: readonly EdgeJobCluster[],
  totals: JobTotals,
  job: Pick<EdgeJob, 'metadata' | 'spec'>,
): EdgeJobPhase {
  const phases = clusters.map(({ status }) => status?.phase ?? 'Pending')
  const has = (phase: EdgeJobPhase): boolean => phases.includes(phase)
  const isOver = isExceeded(failedOf(totals, phases, clusters), totals.machines, job.spec)
  if (totals.running > 0) return 'Running'
  if (isOver) return 'Failed'
  if (clusters.some((cluster) => cluster.spec.cancelled === true) && !phases.every(isComplete)) {
    return 'Cancelled'
  }
  const isOpen = has('Pending') || has('Waiting') || has('Running')
  if (isOpen && pausedBy(job) !== undefined) return 'Paused'
  if (has('Waiting')) return 'Waiting'
  if (has('Running')) return 'Running'
  if (!has('Pending')) return 'Completed'
  const isBegun = clusters.some(({ status }) => status?.phase !== undefined)
  return isBegun ? 'Waiting' : 'Pending'
}

function isComplete(phase: EdgeJobPhase): boolean {
  return phase === 'Completed'
}

/** A cluster that has failed without machines, because there is none of its name, counts as one. */
function failedOf(
  { failed, rolledBack }: JobTotals,
  phases: readonly EdgeJobPhase[],
  clusters: readonly EdgeJobCluster[],
): number {
  const lost = clusters.filter(
    ({ status }, at) => phases[at] === 'Failed' && (status?.machines ?? []).length === 0,
  )
  return failed + rolledBack + lost.length
}

/** Returns a short entry for each cluster. */
export function summariesOf(clusters: readonly EdgeJobCluster[]): JobClusterSummary[] {
  return clusters.map(({ spec, status }) => {
    const machines = status?.machines ?? []
    const { phase = 'Pending', message } = status ?? {}
    const text = message === undefined ? {} : { message: message.slice(0, summaryCharsMax) }
    const done = machines.filter((machine) => machine.phase === 'Done').length
    return { name: spec.edgeCluster, phase, machines: machines.length, done, ...text }
  })
}

export function failuresOf(clusters: readonly EdgeJobCluster[]): JobFailure[] {
  const found: JobFailure[] = []
  for (const { spec, status } of clusters) {
    for (const { address, phase, message = '' } of status?.machines ?? []) {
      if (!hasFailed(phase)) continue
      if (found.length >= failuresMax) return found
      const [step = ''] = message.split(':')
      const text = message.slice(step.length + 2)
      found.push({ cluster: spec.edgeCluster, machine: address, phase, step, message: text })
    }
  }
  return found
}

/** Returns the message of a cluster: of its first machine that failed, or else of one that waits. */
export function clusterMessageOf(
  machines: readonly JobMachineStatus[],
): Pick<EdgeJobClusterStatus, 'message'> {
  const told =
    machines.find(({ phase }) => hasFailed(phase)) ?? machines.find(({ message }) => message)
  if (told?.message === undefined || told.phase === 'Done') return {}
  return { message: `${told.address}: ${told.message}` }
}
