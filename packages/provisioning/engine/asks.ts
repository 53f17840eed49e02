import {
  type EdgeCluster,
  type MachineStatus,
  type StepStatus,
  edgeClusterAsks,
  hostKeyPattern,
  stepText,
} from '../kind/edge-cluster.ts'
import { isSkippable } from './plan-steps.ts'

/** The result of the wishes that people have written as annotations. */
export interface Answered {
  readonly steps: StepStatus[]
  readonly machines: MachineStatus[]
  readonly isCancelled: boolean
  /** The annotations to remove: what they ask for is done. */
  readonly done: readonly string[]
}

/** Carries out retry, skip, cancel and accepted host keys. Names that fit no step change nothing. */
export function answerAsks(
  { metadata }: EdgeCluster,
  before: { readonly steps: readonly StepStatus[]; readonly machines: readonly MachineStatus[] },
): Answered {
  const { annotations = {} } = metadata
  const asked = (key: string): readonly string[] => listOf(annotations[key])
  const retried = asked(edgeClusterAsks.retry)
  const skipped = asked(edgeClusterAsks.skip)
  const accepted = new Map<string, string>(
    asked(edgeClusterAsks.acceptHostKeys).flatMap((pair) => {
      const [address = '', fingerprint = ''] = pair.split('=')
      return address !== '' && hostKeyPattern.test(fingerprint)
        ? [[address, fingerprint] as const]
        : []
    }),
  )
  const isCancelled = annotations[edgeClusterAsks.cancel] !== undefined
  const steps = before.steps
    .map((status) => (isCancelled ? cancelled(status) : status))
    .map((status) =>
      retried.includes('*') || isNamed(status, retried) ? retriedStep(status) : status,
    )
    .map((status) => (accepted.has(status.machine ?? '') ? retriedStep(status) : status))
    .map((status) => (isNamed(status, skipped) ? skippedStep(status) : status))
  const machines = before.machines.map((machine) => {
    const fingerprint = accepted.get(machine.address)
    if (fingerprint === undefined) return machine
    const { unknownHostKey: _, ...rest } = machine
    return { ...rest, hostKey: fingerprint }
  })
  const done = Object.values(edgeClusterAsks).filter((key) => annotations[key] !== undefined)
  return { steps, machines, isCancelled, done }
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function isNamed(status: StepStatus, names: readonly string[]): boolean {
  return names.some((name) => name === status.name || name === stepText(status))
}

function cancelled(status: StepStatus): StepStatus {
  if (status.state !== 'Waiting' && status.state !== 'Running') return status
  const { nextTime: _, ...rest } = status
  return { ...rest, state: 'Cancelled', message: 'a person has cancelled it' }
}

/** A step that is asked for again begins at its first attempt. Finished ones and those that wait anyway stay. */
function retriedStep(status: StepStatus): StepStatus {
  const { nextTime, message: _, findings: __, ...rest } = status
  const isRetried =
    status.state === 'Failed' || status.state === 'Cancelled' || nextTime !== undefined
  return isRetried ? { ...rest, state: 'Waiting', attempt: 0 } : status
}

function skippedStep(status: StepStatus): StepStatus {
  if (status.state === 'Done' || !isSkippable(status)) return status
  const { nextTime: _, ...rest } = status
  return { ...rest, state: 'Skipped', message: 'a person has skipped it' }
}
