import {
  asError,
  linkedSignal,
  messageOf,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { apiTime } from '@skerry/fleet-kinds'
import { stepText, type EdgeCluster, type StepStatus } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { provisioningBounds } from '../limits-table.ts'
import { ShellError, type Shell } from '../contract/shell.ts'
import { readySteps, type StepInstance } from './plan-steps.ts'
import type { Redactor } from './redactor.ts'
import type { StatusBook } from './status-book.ts'
import { StepError, type HubSide, type TargetContext, type StepContext } from '../contract/step.ts'

const bounds = provisioningBounds.engine

/** Everything that a run of steps needs from the outside. */
export interface RunDeps {
  readonly edge: EdgeCluster
  readonly machines: readonly PlannedMachine[]
  readonly master: PlannedMachine
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

/** Runs what may run until nothing may run now. A step that fails stops its own machine only. */
export async function runSteps(
  instances: readonly StepInstance[],
  deps: RunDeps,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<string, Promise<void>>()
  using scope = linkedSignal(signal)
  const atOnce = deps.edge.spec.machinesAtOnce ?? bounds.machinesAtOnce
  try {
    for (;;) {
      scope.signal.throwIfAborted()
      const ready = deps.isHeld() ? [] : readySteps(instances, deps.book.steps, deps.clock.now())
      for (const instance of ready) {
        if (
          running.has(instance.text) ||
          running.size >= Math.min(atOnce, bounds.machinesAtOnceMax)
        )
          continue
        const run = runStep(instance, deps, scope.signal).finally(() =>
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

async function runStep(
  { step, machine, text }: StepInstance,
  deps: RunDeps,
  signal: AbortSignal,
): Promise<void> {
  const { book, clock, redactor, log } = deps
  const before = book.steps.find((each) => stepText(each) === text)
  if (before === undefined) return
  const started: StepStatus = {
    ...withoutResult(before),
    state: 'Running',
    attempt: (before.attempt ?? 0) + 1,
    startTime: apiTime(clock.now()),
  }
  book.setStep(started)
  const status = machine && book.machine(machine.address)
  if (status !== undefined && step.changesMachine === true) {
    book.setMachine({ ...status, isChanged: true })
  }
  // It is written before the step begins: after a crash the hub knows what may have been changed.
  await book.save('Running')
  const printed = new PrintedLines()
  const context: StepContext = {
    edge: deps.edge,
    machines: deps.machines,
    master: deps.master,
    hub: deps.hub,
    shellOf: (one) => deps.shells.open(one, signal),
    print: (line) => printed.add(redactor.redact(line)),
    conceal: (secrets) => redactor.add(secrets),
    clock,
    log,
    signal,
  }
  let ended: StepStatus
  try {
    const result = await act(step, machine, context, book)
    signal.throwIfAborted()
    ended = { ...started, state: 'Done', ...shown(redactor.redact(result), printed) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ShellError && error.fault === 'unreachable' && machine !== undefined) {
      await deps.shells.forget(step.place === 'for-machines' ? deps.master : machine)
    }
    const message = redactor.redact(messageOf(error))
    printed.add(message)
    const found = findingsOf(error, redactor)
    ended = { ...afterFailure(started, error, deps), ...shown(message, printed), ...found }
    log.info('Step failed', { step: text, attempt: started.attempt, problem: ended.message ?? '' })
  }
  const kept = { ...ended, finishTime: apiTime(clock.now()) }
  book.setStep(kept)
  await deps.keepLog(kept, printed.text()).catch((error: unknown) => {
    signal.throwIfAborted()
    // A quota may refuse the log. The status has its last lines, so the work goes on.
    log.info('Cannot keep log of step', { step: text, problem: messageOf(error) })
  })
  await book.save('Running')
}

function withoutResult(status: StepStatus): StepStatus {
  const {
    nextTime: _,
    finishTime: __,
    message: ___,
    output: ____,
    findings: _____,
    ...rest
  } = status
  return rest
}

/** Does a step in its place. One that is done for a machine does not open it. */
async function act(
  step: StepInstance['step'],
  machine: PlannedMachine | undefined,
  context: StepContext,
  book: StatusBook,
): Promise<string> {
  if (step.place === 'hub' || step.place === 'master') return step.act(context)
  if (machine === undefined) throw new Error('Cannot run step: it has no machine')
  const { address, role } = machine
  const target: TargetContext = {
    ...context,
    machine,
    known: () => book.machines,
    record: (facts) =>
      book.setMachine({ ...(book.machine(address) ?? { address, role }), ...facts }),
  }
  if (step.place === 'for-machines') return step.act(target)
  return step.act({ ...target, shell: await context.shellOf(machine) })
}

/** Machines word most of a finding, so each is cut and bare of secrets, as messages are. */
function findingsOf(error: unknown, redactor: Redactor): Pick<StepStatus, 'findings'> {
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

function afterFailure(
  started: StepStatus,
  error: unknown,
  { edge, clock, random }: RunDeps,
): StepStatus {
  const attempt = started.attempt ?? 1
  const { mode, retry } = edge.spec
  const byDefault = mode === 'Check' ? bounds.checkAttempts : bounds.attemptsDefault
  const attemptsMax = retry?.attempts ?? byDefault
  if (isFinal(error) || attempt >= attemptsMax) return { ...started, state: 'Failed' }
  const delayMs = Math.min(bounds.retryMsMax, bounds.retryMsMin * 2 ** (attempt - 1))
  const nextMs = clock.now() + delayMs * (1 + random.next() / 2)
  return { ...started, state: 'Waiting', nextTime: apiTime(nextMs + 999) }
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
