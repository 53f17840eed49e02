import {
  asError,
  linkedSignal,
  messageOf,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { apiTime } from '@skerry/fleet-kinds'
import {
  stepText,
  type EdgeCluster,
  type StepStatus,
  type WaitReason,
} from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { edgeJobBounds, provisioningBounds } from '../limits-table.ts'
import { ShellError, type Shell } from '../contract/shell.ts'
import { actOn } from './act-on.ts'
import { Masters } from './masters.ts'
import { isLook, readySteps, type StepInstance } from './plan-steps.ts'
import type { Redactor } from './redactor.ts'
import type { StatusBook } from './status-book.ts'
import { Turn } from './turn.ts'
import {
  StepError,
  StepHeld,
  StepWaiting,
  type HubContext,
  type HubSide,
  type Step,
} from '../contract/step.ts'

const bounds = provisioningBounds.engine
const waits = edgeJobBounds

/** Everything that a run of steps needs from the outside. */
export interface RunDeps {
  readonly edge: EdgeCluster
  readonly machines: readonly PlannedMachine[]
  /** The masters with a site, if the machines are only some of the cluster's. */
  readonly masters?: readonly PlannedMachine[]
  readonly hub: HubSide
  readonly book: StatusBook
  readonly shells: Shells
  readonly redactor: Redactor
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Stores the log of an attempt. */
  readonly keepLog: (step: StepStatus, text: string) => Promise<void>
  /** Whether a person wants no further step to begin. */
  readonly isHeld: () => boolean
}

/** How a run differs from one that makes an EdgeCluster. */
export interface RunPace {
  /** How often a step is tried before it has failed. If omitted, as the EdgeCluster says. */
  readonly attemptsMax?: number
  /**
   * How long a step waits for a machine that is away before that counts as an attempt. If omitted, it counts at once.
   */
  readonly patienceMs?: (step: Step) => number
  /** Returns those of the steps that may begin, of which some may do so now. If omitted, as many as there are places. */
  readonly choose?: (ready: readonly StepInstance[], running: ReadonlySet<string>) => StepInstance[]
}

/** Runs what may run until nothing may run now. A step that fails stops its own machine only. */
export async function runSteps(
  instances: readonly StepInstance[],
  deps: RunDeps,
  signal: AbortSignal,
  pace: RunPace = {},
): Promise<void> {
  const running = new Map<string, Promise<void>>()
  // Something may have changed since a step looked last, so each looks once.
  const looked = new Set<string>()
  const isWoken = (status: StepStatus): boolean => isLook(status) && !looked.has(stepText(status))
  using scope = linkedSignal(signal)
  const chooser = new Masters(deps)
  const turn = new Turn()
  const atOnce = deps.edge.spec.machinesAtOnce ?? bounds.machinesAtOnce
  try {
    for (;;) {
      scope.signal.throwIfAborted()
      const ready = deps.isHeld()
        ? []
        : readySteps(instances, deps.book.steps, deps.clock.now(), isWoken)
      const { choose = (all) => [...all] } = pace
      for (const instance of choose(ready, new Set(running.keys()))) {
        if (
          running.has(instance.text) ||
          running.size >= Math.min(atOnce, bounds.machinesAtOnceMax)
        )
          continue
        looked.add(instance.text)
        const run = runStep(instance, { ...deps, pace, chooser, turn }, scope.signal).finally(() =>
          running.delete(instance.text),
        )
        // Every error is waited for below; this keeps one from ending the process meanwhile.
        run.catch(() => undefined)
        running.set(instance.text, run)
      }
      if (running.size === 0) return
      await Promise.race(running.values())
    }
  } catch (error) {
    // No step may go on, or write the status, when the caller believes that all have ended.
    scope.abort(asError(error))
    await Promise.allSettled(running.values())
    throw error
  }
}

interface PacedRun extends RunDeps {
  readonly pace: RunPace
  readonly chooser: Masters
  readonly turn: Turn
}

async function runStep(instance: StepInstance, deps: PacedRun, signal: AbortSignal): Promise<void> {
  const { step, machine, text } = instance
  const { book, clock, redactor, log } = deps
  const before = book.steps.find((each) => stepText(each) === text)
  if (before === undefined) return
  const started = startedStep(before, clock.now())
  book.setStep(started)
  const status = machine && book.machine(machine.address)
  if (status !== undefined && step.changesMachine === true) {
    book.setMachine({ ...status, isChanged: true })
  }
  // It is written before the step begins: after a crash the hub knows what may have been changed. Looks are many.
  if (!isLook(before)) await book.save('Running')
  const printed = new PrintedLines()
  const context: HubContext = {
    edge: deps.edge,
    machines: deps.machines,
    hub: deps.hub,
    print: (line) => printed.add(redactor.redact(line)),
    conceal: (secrets) => redactor.add(secrets),
    clock,
    log,
    signal,
  }
  // A hub that was killed in the middle does not know how far it came.
  let isBegun = before.isBegun === true || before.state === 'Running'
  let ended: StepStatus
  try {
    const onBegin = (): void => void (isBegun = true)
    const place = { ...deps, masters: deps.chooser, isRepeated: isRepeated(before), onBegin }
    const result = await actOn(instance, context, place)
    signal.throwIfAborted()
    const { reason: _, ...rest } = started
    ended = { ...rest, state: 'Done', ...shown(redactor.redact(result), printed) }
  } catch (error) {
    signal.throwIfAborted()
    if (isAway(error) && machine !== undefined) {
      // The master of such a step is the one that is away; the machine itself was not opened.
      const isElsewhere = step.place === 'master-for-each' || step.place === 'any-master'
      await (isElsewhere ? deps.chooser.forget() : deps.shells.forget(machine))
    }
    const message = redactor.redact(messageOf(error))
    if (error instanceof StepWaiting) {
      const looked = afterLook(before.startTime ?? started.startTime, error, deps)
      book.setStep({ ...withoutResult(before), ...looked, ...shown(message, printed) })
      return
    }
    printed.add(message)
    const found = findingsOf(error, redactor)
    const failure = { started, step, error, isBegun }
    ended = { ...afterFailure(failure, deps), ...shown(message, printed), ...found }
    if (ended.reason === undefined) {
      const { attempt, message: problem = '' } = ended
      log.info('Step failed', { step: text, attempt: attempt ?? 1, problem })
    }
  }
  const kept = { ...ended, finishTime: apiTime(clock.now()) }
  book.setStep(kept)
  // It waits for days perhaps, and each look would add the same lines.
  if (kept.reason !== undefined) return book.save('Running')
  await deps.keepLog(kept, printed.text()).catch((error: unknown) => {
    signal.throwIfAborted()
    // A quota may refuse the log. The status has its last lines, so the work goes on.
    log.info('Cannot keep log of step', { step: text, problem: messageOf(error) })
  })
  await book.save('Running')
}

/** A step that has only waited so far is still at the attempt, and the time, at which it began to wait. */
function startedStep(before: StepStatus, nowMs: number): StepStatus {
  const { reason, isBegun: _, ...rest } = withoutResult(before)
  const { attempt = 0, startTime = apiTime(nowMs) } = before
  return reason === undefined
    ? { ...rest, state: 'Running', attempt: attempt + 1, startTime: apiTime(nowMs) }
    : { ...rest, state: 'Running', reason, attempt, startTime }
}

/** A person who retries a step, and a full status, leave only one of the two. */
function isRepeated({ attempt, startTime }: StepStatus): boolean {
  return attempt !== undefined || startTime !== undefined
}

function isAway(error: unknown): boolean {
  return error instanceof ShellError && error.fault === 'unreachable'
}

/** Two looks within one period have the same next time, so that writing one does not cause the next one. */
function afterLook(
  startTime: string | undefined,
  { lookMs }: StepWaiting,
  { clock }: RunDeps,
): Pick<StepStatus, 'state' | 'attempt' | 'startTime' | 'nextTime'> {
  const nextTime = apiTime((Math.floor(clock.now() / lookMs) + 1) * lookMs)
  return { state: 'Waiting', attempt: 0, nextTime, ...(startTime ? { startTime } : {}) }
}

function withoutResult(status: StepStatus): StepStatus {
  const {
    nextTime: _,
    finishTime: __,
    message: ___,
    output: ____,
    findings: _____,
    fault: ______,
    ...rest
  } = status
  return rest
}

/** Machines word most of a finding, so each is cut and bare of secrets, as messages are. */
function findingsOf(error: unknown, redactor: Redactor): Pick<StepStatus, 'findings' | 'fault'> {
  if (error instanceof ShellError) return { fault: error.fault }
  if (!(error instanceof StepError) || error.findings.length === 0) return {}
  const findings = error.findings
    .slice(0, bounds.findingsMax)
    .map((each) => redactor.redact(each).slice(0, bounds.findingCharsMax))
  return { findings }
}

/** Logins that are wrong and findings that only a person can mend are not tried again. */
function isFinal(error: unknown): boolean {
  if (error instanceof StepError) return error.isFinal
  return (
    error instanceof ShellError && ['refused', 'host-key', 'login', 'root'].includes(error.fault)
  )
}

interface StepFailure {
  readonly started: StepStatus
  readonly step: Step
  readonly error: unknown
  /** Whether it may have changed its machine. */
  readonly isBegun: boolean
}

function afterFailure(failure: StepFailure, { pace, ...deps }: PacedRun): StepStatus {
  const { step, error, isBegun } = failure
  const { edge, clock, random } = deps
  const { reason: _, ...started } = failure.started
  const attempt = started.attempt ?? 1
  const reason = waitReasonOf(error)
  const waitedMs = clock.now() - Date.parse(started.startTime ?? '')
  const isPatient = pace.patienceMs !== undefined
  const isHarmless = error instanceof StepHeld || (isPatient && !isBegun)
  const patienceMs = isHarmless ? Infinity : (pace.patienceMs?.(step) ?? 0)
  const kept = isPatient && isBegun ? { isBegun } : {}
  if (reason !== undefined && waitedMs < patienceMs) {
    const nextTime = apiTime(clock.now() + lookAgainMs(reason, waitedMs) + 999)
    return { ...started, ...kept, state: 'Waiting', reason, nextTime }
  }
  const { mode, retry } = edge.spec
  const byDefault = mode === 'Check' ? bounds.checkAttempts : bounds.attemptsDefault
  const attemptsMax = pace.attemptsMax ?? retry?.attempts ?? byDefault
  const isLost = reason !== undefined && isPatient
  if (isFinal(error) || isLost || attempt >= attemptsMax) return { ...started, state: 'Failed' }
  const delayMs = Math.min(bounds.retryMsMax, bounds.retryMsMin * 2 ** (attempt - 1))
  const nextMs = clock.now() + delayMs * (1 + random.next() / 2)
  return { ...started, ...kept, state: 'Waiting', nextTime: apiTime(nextMs + 999) }
}

function waitReasonOf(error: unknown): WaitReason | undefined {
  if (error instanceof StepHeld) return error.reason
  return isAway(error) ? 'Unreachable' : undefined
}

/** The longer something has been waited for, the later it is looked for again. */
function lookAgainMs(reason: WaitReason, waitedMs: number): number {
  const [part, min, max] =
    reason === 'Unreachable'
      ? [waits.awayPart, waits.awayMsMin, waits.awayMsMax]
      : [waits.unconfirmedPart, waits.unconfirmedMsMin, waits.unconfirmedMsMax]
  return Math.min(max, Math.max(min, waitedMs / part))
}

function shown(message: string, printed: PrintedLines): Pick<StepStatus, 'message' | 'output'> {
  const output = printed.last()
  return {
    message: message.slice(0, bounds.messageCharsMax),
    ...(output === '' ? {} : { output }),
  }
}

/** The lines of one attempt: the last ones for the status, and as many as fit for the log. */
class PrintedLines {
  #text = ''

  add(text: string): void {
    this.#text += `${text.trimEnd()}\n`
    // Cutting copies, so it waits until there is something to gain.
    if (this.#text.length > 2 * bounds.logBytesMax) this.#text = this.text()
  }

  text(): string {
    return this.#text.slice(-bounds.logBytesMax)
  }

  last(): string {
    const lines = this.text().trimEnd().split('\n').slice(-bounds.outputLines)
    return lines.join('\n').slice(-bounds.outputCharsMax)
  }
}

/** The machines that one run has opened, each at most once. */
export class Shells implements AsyncDisposable {
  readonly #openShell: (machine: PlannedMachine, signal: AbortSignal) => Promise<Shell>
  readonly #opened = new Map<string, Promise<Shell>>()

  constructor(openShell: (machine: PlannedMachine, signal: AbortSignal) => Promise<Shell>) {
    this.#openShell = openShell
  }

  async open(machine: PlannedMachine, signal: AbortSignal): Promise<Shell> {
    const known = this.#opened.get(machine.address)
    if (known !== undefined) return known
    const opening = this.#openShell(machine, signal)
    this.#opened.set(machine.address, opening)
    try {
      return await opening
    } catch (error) {
      this.#opened.delete(machine.address)
      throw error
    }
  }

  /** Closes a machine whose connection broke, so that the next step opens it again. */
  async forget({ address }: PlannedMachine): Promise<void> {
    const opening = this.#opened.get(address)
    this.#opened.delete(address)
    // The step that opened it has reported an error of that.
    const shell = await opening?.catch(() => undefined)
    await shell?.[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#opened.values()) {
      const shell = await opening.catch(() => undefined)
      await shell?.[Symbol.asyncDispose]()
    }
  }
}
