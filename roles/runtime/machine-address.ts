import type { Clock, Logger } from '@skerry/base'
import { hostAddresses } from './host-addresses.ts'
import { runtimeBounds } from './limits-table.ts'

const { lookMs } = runtimeBounds.machineAddress

const loopback = '127.0.0.1'

/**
 * Follows the IPv4 address at which others reach this machine. It may change while the program runs: by DHCP, in another
 * subnet, at another interface.
 */
export class MachineAddress {
  readonly #isFixed: boolean
  readonly #deps: { clock: Clock; log: Logger }
  readonly #present: () => readonly string[]
  readonly #listeners = new Set<(address: string) => void>()
  #current: string

  /** Starts with this address and never changes it. If omitted, with the machine's first one, or that of the loopback. */
  constructor(
    fixed: string | undefined,
    deps: { clock: Clock; log: Logger },
    present: () => readonly string[] = hostAddresses,
  ) {
    this.#isFixed = fixed !== undefined
    this.#deps = deps
    this.#present = present
    this.#current = fixed ?? nextAddress(loopback, present())
  }

  get current(): string {
    return this.#current
  }

  /** Calls back after each change. */
  onChange(listener: (address: string) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Looks for a change until the signal aborts. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#deps.clock.sleep(lookMs, signal)
      if (this.#isFixed) continue
      const before = this.#current
      const next = nextAddress(before, this.#present())
      if (next === before) continue
      this.#current = next
      this.#deps.log.info('Address of this machine changed', { address: next, before })
      for (const listener of this.#listeners) listener(next)
    }
  }
}

/** An address stays while the machine has it, and while it has none, for a cable that is pulled out may come back. */
function nextAddress(current: string, present: readonly string[]): string {
  return present.includes(current) ? current : (present[0] ?? current)
}
