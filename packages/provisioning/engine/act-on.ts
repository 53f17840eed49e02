import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Shell } from '../contract/shell.ts'
import type { ForMachineContext, HubContext, StepContext } from '../contract/step.ts'
import { ChangedDisks } from './changed-disks.ts'
import type { Masters } from './masters.ts'
import type { StepInstance } from './plan-steps.ts'
import type { StatusBook } from './status-book.ts'
import type { Turn } from './turn.ts'

interface Place {
  readonly masters: Masters
  readonly shells: {
    readonly open: (machine: PlannedMachine, signal: AbortSignal) => Promise<Shell>
  }
  readonly book: StatusBook
  readonly turn: Turn
  /** Whether an attempt before may have changed machines: its work may not be on their disks yet. */
  readonly isRepeated?: boolean
  /** Called when its machine is open, and the step may change it. */
  readonly onBegin?: () => void
}

/** Does a step where it belongs, and resolves with its result in a few words. */
export async function actOn(
  instance: StepInstance,
  context: HubContext,
  place: Place,
): Promise<string> {
  const { step, text } = instance
  if (step.place === 'hub') return step.act(context)
  const { masters, shells, turn, isRepeated = false } = place
  const isOfItself = step.place === 'master'
  const master = isOfItself ? instance.machine : await masters.choose(instance, context.signal)
  if (master === undefined) throw new Error(`Cannot run step ${text}: it has no master`)
  const disks = new ChangedDisks(isRepeated)
  const shellOf = async (one: PlannedMachine): Promise<Shell> =>
    disks.watch(one, await shells.open(one, context.signal))
  const alone = <T>(act: () => Promise<T>): Promise<T> => turn.take(act, context.signal)
  const result = await actOnMachines(instance, { ...context, master, shellOf, alone }, place)
  if (step.onlyReads !== true) await disks.outliveCuts(context.signal)
  return result
}

async function actOnMachines(
  { step, machine, text }: StepInstance,
  onMaster: StepContext,
  { book, onBegin }: Place,
): Promise<string> {
  if (step.place === 'hub') throw new Error(`Cannot run step ${text} on a machine: it is the hub's`)
  if (step.place === 'any-master') return step.act(onMaster)
  if (machine === undefined) throw new Error(`Cannot run step ${text}: it has no machine`)
  const forMachine: ForMachineContext = { ...onMaster, ...factsOf(machine, book) }
  if (step.place === 'master' || step.place === 'master-for-each') return step.act(forMachine)
  const shell = await onMaster.shellOf(machine)
  onBegin?.()
  return step.act({ ...forMachine, shell })
}

function factsOf(
  machine: PlannedMachine,
  book: StatusBook,
): Omit<ForMachineContext, keyof StepContext> {
  const { address, role } = machine
  return {
    machine,
    known: () => book.machines,
    record: (facts) =>
      book.setMachine({ ...(book.machine(address) ?? { address, role }), ...facts }),
  }
}
