import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Shell } from '../contract/shell.ts'
import type { ForMachineContext, HubContext, StepContext } from '../contract/step.ts'
import { syncDisk } from '../ensure/sync-disk.ts'
import type { StepInstance } from './plan-steps.ts'
import type { StatusBook } from './status-book.ts'

interface Place {
  /** Undefined for a cluster that was imported. */
  readonly master: PlannedMachine | undefined
  readonly shells: {
    readonly open: (machine: PlannedMachine, signal: AbortSignal) => Promise<Shell>
  }
  readonly book: StatusBook
  /** Called when its machine is open, and the step may change it. */
  readonly onBegin?: () => void
}

/** Does a step where it belongs, and resolves with its result in a few words. */
export async function actOn(
  { step, machine, text }: StepInstance,
  context: HubContext,
  { master, shells, book, onBegin }: Place,
): Promise<string> {
  if (step.place === 'hub') return step.act(context)
  if (master === undefined) throw new Error(`Cannot run step ${text}: it has no master`)
  const shellOf = (one: PlannedMachine): Promise<Shell> => shells.open(one, context.signal)
  const onMaster: StepContext = { ...context, master, shellOf }
  if (step.place === 'master') return step.act(onMaster)
  if (machine === undefined) throw new Error(`Cannot run step ${text}: it has no machine`)
  const forMachine: ForMachineContext = { ...onMaster, ...factsOf(machine, book) }
  if (step.place === 'master-for-each') return step.act(forMachine)
  const shell = await shellOf(machine)
  onBegin?.()
  const result = await step.act({ ...forMachine, shell })
  if (step.onlyReads !== true) await syncDisk(shell, context.signal)
  return result
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
