import { withCondition, type ClusterCondition } from '@skerry/fleet-kinds'
import {
  type EdgeClusterPhase,
  type EdgeClusterStatus,
  type MachineStatus,
  type StepStatus,
  stepText,
} from '../kind/edge-cluster.ts'
import type { JumpStatus } from '../kind/block-way.ts'
import { jumpText } from '../kind/edge-cluster-ways.ts'
import { provisioningBounds } from '../limits-table.ts'
import { isFinished, isLook } from './plan-steps.ts'

const bounds = provisioningBounds.engine

/** The part of a status that does not change while steps run. */
type StatusBase = Omit<EdgeClusterStatus, 'phase' | 'steps' | 'machines' | 'conditions'>

/** The status of an EdgeCluster while steps run, each of which changes its own part; written one at a time. */
export class StatusBook {
  #steps: readonly StepStatus[]
  #machines: readonly MachineStatus[]
  #jumps: readonly JumpStatus[]
  readonly #write: (status: EdgeClusterStatus) => Promise<void>
  readonly #base: StatusBase
  readonly #conditions: readonly ClusterCondition[]
  readonly #pausedBy: string | undefined
  readonly #now: () => number
  #written: Promise<void> = Promise.resolve()
  #next: { phase: EdgeClusterPhase; readonly written: Promise<void> } | undefined

  constructor(
    { status }: { readonly status?: Pick<EdgeClusterStatus, 'conditions'> },
    parts: {
      readonly base: StatusBase
      readonly steps: readonly StepStatus[]
      readonly machines: readonly MachineStatus[]
      readonly jumps?: readonly JumpStatus[]
      /** The field or annotation that pauses the object. */
      readonly pausedBy?: string | undefined
      readonly now: () => number
      readonly write: (status: EdgeClusterStatus) => Promise<void>
    },
  ) {
    this.#steps = parts.steps
    this.#machines = parts.machines
    this.#jumps = parts.jumps ?? []
    this.#base = parts.base
    this.#conditions = status?.conditions ?? []
    this.#pausedBy = parts.pausedBy
    this.#now = parts.now
    this.#write = parts.write
  }

  get steps(): readonly StepStatus[] {
    return this.#steps
  }

  get machines(): readonly MachineStatus[] {
    return this.#machines
  }

  get jumps(): readonly JumpStatus[] {
    return this.#jumps
  }

  /** Returns a jump host by its name, as jumpText writes it. */
  jump(name: string): JumpStatus | undefined {
    return this.#jumps.find((each) => jumpText(each) === name)
  }

  machine(address: string): MachineStatus | undefined {
    return this.#machines.find((each) => each.address === address)
  }

  setStep(next: StepStatus): void {
    this.#steps = this.#steps.map((each) => (stepText(each) === stepText(next) ? next : each))
  }

  setMachine(next: MachineStatus): void {
    this.#machines = this.#machines.map((each) => (each.address === next.address ? next : each))
  }

  setJump(next: JumpStatus): void {
    this.#jumps = this.#jumps.map((each) => (jumpText(each) === jumpText(next) ? next : each))
  }

  /** Leaves machines out, with their steps. */
  drop(addresses: ReadonlySet<string>): void {
    this.#machines = this.#machines.filter(({ address }) => !addresses.has(address))
    this.#steps = this.#steps.filter(({ machine }) => !addresses.has(machine ?? ''))
  }

  /**
   * Writes the present status. Writes take turns, so that an older one never comes last; callers that wait for a turn
   * share it, because it writes what all of them have set.
   */
  async save(phase: EdgeClusterPhase): Promise<void> {
    if (this.#next !== undefined) {
      this.#next.phase = phase
      return this.#next.written
    }
    const write = this.#written.then(() => {
      const last = this.#next?.phase ?? phase
      this.#next = undefined
      return this.#write(this.#status(last))
    })
    this.#next = { phase, written: write }
    // The next one does not depend on the success of this one, whose error its own caller gets.
    this.#written = write.catch(() => undefined)
    await write
  }

  #status(phase: EdgeClusterPhase): EdgeClusterStatus {
    const present = conditionsOf(this.#steps, phase, this.#pausedBy)
    const types = new Set(present.map(({ type }) => type))
    // A step that no machine needs any more, such as that of a departure, has no condition either.
    const conditions = present.reduce<readonly ClusterCondition[]>(
      (list, next) => withCondition(list, next, this.#now()),
      this.#conditions.filter(({ type }) => types.has(type)),
    )
    return fitted({
      ...this.#base,
      phase,
      steps: [...this.#steps],
      machines: [...this.#machines],
      jumps: [...this.#jumps],
      conditions: [...conditions],
    })
  }
}

/** These leave out parts of steps, one after another, until a status has room: first the least useful ones. */
const reductions: readonly ((step: StepStatus) => StepStatus)[] = [
  (step) => (isFinished(step) ? withoutOutput(step) : step),
  withoutOutput,
  (step) => {
    const { message, findings: _, ...rest } = step
    if (message === undefined) return rest
    return { ...rest, message: message.slice(0, bounds.shortMessageCharsMax) }
  },
  (step) => (isFinished(step) ? nameAndState(step) : step),
  (step) => {
    const { attempt, nextTime } = step
    return {
      ...nameAndState(step),
      ...(attempt === undefined ? {} : { attempt }),
      ...(nextTime === undefined ? {} : { nextTime }),
    }
  },
]

/** Returns the status with as much of its steps as etcd's limit for an object permits. */
function fitted(status: EdgeClusterStatus): EdgeClusterStatus {
  let next = status
  for (const reduce of reductions) {
    if (Buffer.byteLength(JSON.stringify(next)) <= bounds.statusBytesMax) return next
    next = { ...next, steps: (next.steps ?? []).map(reduce) }
  }
  return next
}

function withoutOutput(step: StepStatus): StepStatus {
  const { output: _, ...rest } = step
  return rest
}

/** The digest stays: without it a finished step would be done again. */
function nameAndState({ name, machine, state, input }: StepStatus): StepStatus {
  return {
    name,
    ...(machine === undefined ? {} : { machine }),
    state,
    ...(input === undefined ? {} : { input }),
  }
}

/** Returns the phase of a cluster at rest: none of its steps runs. */
export function phaseAtRest(
  {
    steps,
    machines,
    jumps = [],
  }: Pick<StatusBook, 'steps' | 'machines'> & Partial<Pick<StatusBook, 'jumps'>>,
  { isPaused, isCheck = false }: { readonly isPaused: boolean; readonly isCheck?: boolean },
): EdgeClusterPhase {
  const has = (state: StepStatus['state']): boolean => steps.some((step) => step.state === state)
  if (steps.every(isFinished)) return isCheck ? 'Checked' : 'Ready'
  if (isPaused) return 'Paused'
  if ([...machines, ...jumps].some(({ unknownHostKey }) => unknownHostKey !== undefined)) {
    return 'Waiting'
  }
  if (steps.some(isLook)) return 'Waiting'
  if (has('Failed')) return 'Failed'
  return has('Cancelled') ? 'Cancelled' : 'Running'
}

/** Returns a condition for each step by name, over all of its machines, and Ready for the whole. */
function conditionsOf(
  steps: readonly StepStatus[],
  phase: EdgeClusterPhase,
  by: string | undefined,
): Omit<ClusterCondition, 'lastTransitionTime'>[] {
  const names = [...new Set(steps.map(({ name }) => name))]
  const ofSteps = names.map((type) =>
    stepCondition(
      type,
      steps.filter(({ name }) => name === type),
    ),
  )
  const worst = steps.find(({ state }) => state === 'Failed') ?? steps.find(isRetried)
  const next = steps.find(({ state }) => state === 'Running' || state === 'Waiting')
  const message =
    worst === undefined
      ? next === undefined
        ? phase === 'Checked'
          ? 'every machine is fit; change spec.mode to Make'
          : ''
        : `${stepText(next)} ${next.state === 'Running' ? 'runs' : 'is next'}`
      : `${stepText(worst)}: ${worst.message ?? ''}`
  const status = phase === 'Ready' ? ('True' as const) : ('False' as const)
  const paused = phase === 'Paused' && by !== undefined ? [`paused by ${by}`] : []
  const told = [...paused, ...(message === '' ? [] : [message])].join('; ')
  return [...ofSteps, { type: 'Ready', status, reason: phase, message: told }]
}

function isRetried({ nextTime }: StepStatus): boolean {
  return nextTime !== undefined
}

function stepCondition(
  type: string,
  steps: readonly StepStatus[],
): Omit<ClusterCondition, 'lastTransitionTime'> {
  const failed = steps.find(({ state }) => state === 'Failed' || state === 'Cancelled')
  const open = steps.find(({ state }) => state === 'Waiting' || state === 'Running')
  const shown = failed ?? open ?? steps[0]
  const where = shown?.machine === undefined ? '' : `${shown.machine}: `
  const message = shown?.message === undefined ? '' : `${where}${shown.message}`
  if (failed !== undefined) return { type, status: 'False', reason: failed.state, message }
  if (open !== undefined) return { type, status: 'Unknown', reason: open.state, message }
  return { type, status: 'True', reason: shown?.state ?? 'Done', message }
}
