import type { Clock } from '@skerry/base'
import { ShellError, type Shell } from '../contract/shell.ts'
import { isServing } from '../ensure/serving-site.ts'
import { madeMasters } from '../kind/made-masters.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { StepInstance } from './plan-steps.ts'
import type { StatusBook } from './status-book.ts'

const { masterMs } = provisioningBounds.engine

interface MastersParts {
  readonly machines: readonly PlannedMachine[]
  readonly book: Pick<StatusBook, 'machines'>
  /** The masters with a site, if these machines are only some of the cluster's. */
  readonly masters?: readonly PlannedMachine[]
  readonly shells: {
    readonly open: (machine: PlannedMachine, signal: AbortSignal) => Promise<Shell>
    readonly forget: (machine: PlannedMachine) => Promise<void>
  }
  readonly clock: Clock
}

/** The masters of a cluster, any of which answers for the others: it is asked again from time to time which one does. */
export class Masters {
  readonly #parts: MastersParts
  #chosen: { readonly address: string; readonly untilMs: number } | undefined

  constructor(parts: MastersParts) {
    this.#parts = parts
  }

  /**
   * Resolves with a master whose site answers; if none does, with the first, of which the step will tell. A cluster
   * with one master is not asked. Resolves undefined for a cluster without machines.
   */
  async choose(
    { machine, step }: Pick<StepInstance, 'machine' | 'step'>,
    signal: AbortSignal,
  ): Promise<PlannedMachine | undefined> {
    const { machines, clock } = this.#parts
    const made = this.#made()
    const [first, second] = made
    if (first === undefined) return machines.find(({ role }) => role === 'Master')
    // Steps that only read come before there is a site.
    if (second === undefined || step.onlyReads === true) return first
    const own = made.find(({ address }) => address === machine?.address)
    const known = made.find(({ address }) => address === this.#chosen?.address)
    if (known !== undefined && known !== own && clock.now() < (this.#chosen?.untilMs ?? 0))
      return known
    // A machine is not the one to ask about itself while others are there.
    const others = made.filter((each) => each !== own)
    for (const each of own === undefined ? others : [...others, own]) {
      if (!(await this.#serves(each, signal))) continue
      this.#chosen = { address: each.address, untilMs: clock.now() + masterMs }
      return each
    }
    return first
  }

  /** Lets the connection to the chosen master be opened again, and asks again which one serves. */
  async forget(): Promise<void> {
    const { shells } = this.#parts
    const made = this.#made()
    const chosen = made.find(({ address }) => address === this.#chosen?.address) ?? made[0]
    this.#chosen = undefined
    if (chosen !== undefined) await shells.forget(chosen)
  }

  #made(): readonly PlannedMachine[] {
    const { machines, book, masters } = this.#parts
    return masters ?? madeMasters(machines, book.machines)
  }

  async #serves(master: PlannedMachine, signal: AbortSignal): Promise<boolean> {
    try {
      return await isServing(await this.#parts.shells.open(master, signal), signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ShellError)) throw error
      // The next look opens it again.
      await this.#parts.shells.forget(master)
      return false
    }
  }
}
