import {
  type EdgeCluster,
  type MachineStatus,
  type StepStatus,
  edgeClusterAsks,
  hostKeyPattern,
  stepText,
} from '../kind/edge-cluster.ts'
import type { JumpStatus } from '../kind/block-way.ts'
import { jumpText } from '../kind/edge-cluster-ways.ts'

/** The result of the wishes that people have written as annotations. */
export interface Answered {
  readonly steps: StepStatus[]
  readonly machines: MachineStatus[]
  readonly jumps: JumpStatus[]
  readonly isCancelled: boolean
  /** The annotations to remove: what they ask for is done. */
  readonly done: readonly string[]
}

interface Before {
  readonly steps: readonly StepStatus[]
  readonly machines: readonly MachineStatus[]
  readonly jumps?: readonly JumpStatus[]
  /** Returns the name of the jump host before a machine. If omitted, none has one. */
  readonly jumpOf?: (address: string) => string | undefined
  /** Reports whether a person may skip a step. If omitted, those on machines. */
  readonly maySkip?: (status: StepStatus) => boolean
}

/** Carries out retry, skip, cancel and accepted host keys. Names that fit no step change nothing. */
export function answerAsks({ metadata }: EdgeCluster, before: Before): Answered {
  const { annotations = {} } = metadata
  const { maySkip = ({ machine }: StepStatus) => machine !== undefined } = before
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
    .map((status) => (isNamed(status, retried) ? unskipped(status) : status))
    .map((status) =>
      retried.includes('*') || isNamed(status, retried) ? retriedStep(status) : status,
    )
    .map((status) => (isUnlocked(status, before, accepted) ? retriedStep(status) : status))
    .map((status) => (isNamed(status, skipped) && maySkip(status) ? skippedStep(status) : status))
  const machines = before.machines.map((each) => withKey(each, accepted.get(each.address)))
  const jumps = (before.jumps ?? []).map((each) => withKey(each, accepted.get(jumpText(each))))
  const done = Object.values(edgeClusterAsks).filter((key) => annotations[key] !== undefined)
  return { steps, machines, jumps, isCancelled, done }
}

/** Returns true if a key of the step's machine, or of the jump host before it, was accepted. */
function isUnlocked(
  { machine = '' }: StepStatus,
  { jumpOf }: Before,
  accepted: ReadonlyMap<string, string>,
): boolean {
  return accepted.has(machine) || accepted.has(jumpOf?.(machine) ?? '')
}

function withKey<Status extends MachineStatus | JumpStatus>(
  status: Status,
  fingerprint: string | undefined,
): Status {
  if (fingerprint === undefined) return status
  const next: Status = { ...status, hostKey: fingerprint }
  delete next.unknownHostKey
  return next
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
  const { nextTime, message: _, findings: __, fault: ___, ...rest } = status
  const isRetried =
    status.state === 'Failed' || status.state === 'Cancelled' || nextTime !== undefined
  return isRetried ? { ...rest, state: 'Waiting', attempt: 0 } : status
}

/** A step that was skipped by mistake is done after all if somebody names it. */
function unskipped(status: StepStatus): StepStatus {
  if (status.state !== 'Skipped') return status
  const { message: _, ...rest } = status
  return { ...rest, state: 'Waiting', attempt: 0 }
}

function skippedStep(status: StepStatus): StepStatus {
  if (status.state === 'Done') return status
  const { nextTime: _, ...rest } = status
  return { ...rest, state: 'Skipped', message: 'a person has skipped it' }
}
