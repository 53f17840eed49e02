import { ExpectedError, exitCodes, messageOf, type Clock } from '@skerry/base'
import { clientBounds } from '../limits-table.ts'
import { atTheEnd, inNetns, runCommand } from './kernel-commands.ts'
import {
  CannotDelayError,
  planCut,
  planLink,
  tableOf,
  type LinkFaults,
  type LinkPlace,
  type LinkPlan,
} from './link-plan.ts'

export interface SimulationDeps {
  readonly clock: Clock
  readonly print: (line: string) => void
}

/** Makes a link bad until the signal aborts, and then puts it back. Kill this process in any way: it is put back as well. */
export async function simulateLink(
  faults: LinkFaults,
  place: LinkPlace,
  { clock, print }: SimulationDeps,
  signal: AbortSignal,
): Promise<void> {
  if (await hasTable(place, signal)) {
    throw failed(place, 'another simulation runs there; end it, or put the link back with --off')
  }
  await requireUsualQueue(place, signal)
  const plan = planned(faults, place, await hasNetem(place, signal))
  await using stack = new AsyncDisposableStack()
  const made = await ask(place, ['nft', '-f', '-'], signal, plan.table)
  if (made.code !== 0) throw failed(place, made.stderr.trim())
  for (const command of commandsBack(place, plan).toReversed()) stack.use(atTheEnd(command))
  if (plan.queue) {
    const { code, stderr } = await ask(place, ['tc', ...plan.queue], signal)
    if (code !== 0) throw failed(place, `tc ended with ${code}: ${stderr.trim()}`)
  }
  print(`The link ${nameOf(place)} is bad now; interrupt this command to put it back`)
  const { cuts } = faults
  while (!cuts) await clock.sleep(idleMs, signal)
  for (;;) {
    await clock.sleep(Math.max(0, cuts.everyMs - cuts.forMs), signal)
    const cut = await ask(place, ['nft', '-f', '-'], signal, planCut(place, cuts.forMs))
    if (cut.code !== 0) throw failed(place, `nft ended with ${cut.code}: ${cut.stderr.trim()}`)
    print(`Cut for ${cuts.forMs / 1_000} s`)
    await clock.sleep(cuts.forMs, signal)
  }
}

/** Puts a link back whose simulation was killed together with the process that would have done so. */
export async function endSimulation(
  place: LinkPlace,
  { print }: Pick<SimulationDeps, 'print'>,
  signal: AbortSignal,
): Promise<void> {
  if (!(await hasTable(place, signal))) return print(`The link ${nameOf(place)} is not simulated`)
  const queue = await queueOf(place, signal)
  const isOurs = queue.kind === 'netem' || queue.kind === 'tbf'
  for (const command of commandsBack(place, { queue: isOurs ? [] : undefined, table: '' })) {
    const { code, stderr } = await runCommand(command, signal)
    if (code !== 0) throw failed(place, stderr.trim())
  }
  print(`The link ${nameOf(place)} is as before`)
}

const { idleMs } = clientBounds.simulateLink

async function hasTable(place: LinkPlace, signal: AbortSignal): Promise<boolean> {
  const { code } = await ask(place, ['nft', 'list', 'table', 'inet', tableOf(place)], signal)
  return code === 0
}

/** The queue goes first: the table says that there is something to put back. */
function commandsBack(place: LinkPlace, { queue }: LinkPlan): (readonly string[])[] {
  const table = ['nft', 'delete', 'table', 'inet', tableOf(place)]
  const commands = [
    ...(queue ? [['tc', 'qdisc', 'del', 'dev', place.interface, 'root']] : []),
    table,
  ]
  return commands.map((command) => inNetns(place.netns, command))
}

function planned(faults: LinkFaults, place: LinkPlace, isThere: boolean): LinkPlan {
  try {
    return planLink(faults, place, { hasNetem: isThere })
  } catch (error) {
    if (!(error instanceof CannotDelayError)) throw error
    const remedy = 'leave out --delay, or use a machine whose kernel has it'
    throw new ExpectedError(
      `Cannot simulate the link: ${messageOf(error)}; ${remedy}`,
      exitCodes.missingDependency,
      { cause: error },
    )
  }
}

/** Tries it at the interface itself, because a module may be loaded by the first use. */
async function hasNetem(place: LinkPlace, signal: AbortSignal): Promise<boolean> {
  const at = ['dev', place.interface, 'root']
  const { code } = await ask(place, ['tc', 'qdisc', 'add', ...at, 'netem'], signal)
  if (code === 0) await ask(place, ['tc', 'qdisc', 'del', ...at], signal)
  return code === 0
}

interface Queue {
  readonly kind: string
  /** `0:` for a queue that nobody has set. */
  readonly handle: string
}

/** A queue that somebody has set would be lost. */
async function requireUsualQueue(place: LinkPlace, signal: AbortSignal): Promise<void> {
  const { kind, handle } = await queueOf(place, signal)
  if (handle === '0:') return
  const why = `its interface has a queue already (${kind} ${handle}); end another simulation with --off, or remove the queue with tc`
  throw failed(place, why)
}

async function queueOf(place: LinkPlace, signal: AbortSignal): Promise<Queue> {
  const show = ['tc', '-j', 'qdisc', 'show', 'dev', place.interface, 'root']
  const { code, stdout, stderr } = await ask(place, show, signal)
  if (code !== 0) throw failed(place, stderr.trim() || 'tc does not show its queue')
  // tc prints a list of these.
  const [queue] = JSON.parse(stdout || '[]') as Partial<Queue>[]
  return { kind: queue?.kind ?? 'none', handle: queue?.handle ?? '0:' }
}

function ask(place: LinkPlace, command: readonly string[], signal: AbortSignal, input?: string) {
  return runCommand(inNetns(place.netns, command), signal, input)
}

function failed(place: LinkPlace, why: string): ExpectedError {
  return new ExpectedError(`Cannot simulate the link ${nameOf(place)}: ${why}`, exitCodes.failure)
}

function nameOf(place: LinkPlace): string {
  const { interface: name, netns } = place
  return netns === undefined ? name : `${name} in ${netns}`
}
