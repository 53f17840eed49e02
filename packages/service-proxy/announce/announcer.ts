import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import { serviceProxyBounds } from '../limits-table.ts'
import {
  announce,
  heldAddresses,
  holdAddresses,
  linkOf,
  ownerOnLink,
  silencingSwitch,
  type OwnLink,
} from './address-acts.ts'

/** Announces the addresses of services that the site gave to this node. */
export interface Announcer {
  /** The addresses that the machine has for services now. */
  readonly held: ReadonlySet<string>
  /** Sets the addresses that this node is to announce. */
  setWanted(addresses: ReadonlySet<string>): void
  /** Runs until the signal aborts. The kernel then forgets the addresses within seconds. */
  run(signal: AbortSignal): Promise<never>
}

export interface AnnouncerDeps {
  readonly nodeAddress: () => string
  /** Called when the machine has other addresses than before. */
  readonly onHeld: () => void
  /** Called with the network of the node's address, e.g. `192.168.7.0/24`, now and then. */
  readonly onNetwork: (network: string) => void
  readonly clock: Clock
  readonly log: Logger
}

const { lifetimeSeconds, renewMs, answerMs, announcements, lookMs } = serviceProxyBounds.announcer

/** Creates an announcer. It takes an address only if no other machine of the link answers for it. */
export function createAnnouncer(deps: AnnouncerDeps): Announcer {
  const { clock } = deps
  const hand = new AddressHand(deps)
  // Until the site has spoken, those of an earlier process stay as long as the kernel keeps them.
  let wanted: ReadonlySet<string> | undefined
  const changed = createWakeFlag()
  return {
    get held() {
      return hand.held
    },
    setWanted(addresses) {
      if (wanted && addresses.symmetricDifference(wanted).size === 0) return
      wanted = addresses
      changed.raise()
    },
    async run(signal) {
      for (;;) {
        changed.lower()
        try {
          if (wanted) await hand.renew(wanted, signal)
          else await hand.look()
        } catch (error) {
          signal.throwIfAborted()
          const cause = { error: asError(error) }
          deps.log.error('Addresses of services not announced, trying again', cause)
        }
        const isBusy = (wanted?.size ?? 0) + hand.held.size > 0
        using _timer = clock.setTimer(isBusy ? renewMs : lookMs, changed.raise)
        await changed.wait(signal)
      }
    },
  }
}

/** The addresses that this machine has for services. */
class AddressHand {
  readonly #deps: AnnouncerDeps
  #held: ReadonlySet<string> = new Set()
  #renewedMs = -Infinity
  #lookedMs = -Infinity
  /** The link that was seen then. */
  #known: OwnLink | undefined
  /** The announcements that each new address still gets. */
  readonly #due = new Map<string, number>()
  /** Addresses that another machine has, which was logged. */
  readonly #refused = new Set<string>()

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps
  }

  get held(): ReadonlySet<string> {
    return this.#held
  }

  /** Reports the network of the machine. */
  async look(): Promise<void> {
    await this.#link(false)
  }

  async renew(wanted: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    // After a pause the kernel has forgotten all addresses, and another machine may have them.
    const isLate = clock.monotonicMs() - this.#renewedMs > lifetimeSeconds * 1_000
    const before = this.#held
    const kept = new Set([...before].filter((address) => wanted.has(address) && !isLate))
    // They are renewed first: questions about others take time.
    await this.#hold(kept)
    const added = [...wanted].filter((address) => !kept.has(address))
    const link = await this.#link(added.length + this.#due.size > 0)
    if (link !== undefined) {
      const taken = await Promise.all(added.map((address) => this.#mayTake(address, link, signal)))
      const free = added.filter((_, index) => taken[index])
      for (const address of free) this.#due.set(address, announcements)
      if (free.length > 0) await this.#hold(kept.union(new Set(free)))
      if (free.length > 0) await this.#announce(link)
    }
    for (const address of this.#due.keys()) if (!this.#held.has(address)) this.#due.delete(address)
    if (this.#held.symmetricDifference(before).size > 0) {
      this.#deps.onHeld()
      log.info('Addresses of services announced', { addresses: [...this.#held].join(', ') })
      if (link !== undefined) await warnOfSilence(link, log)
    } else if (link !== undefined) await this.#announce(link)
  }

  async #hold(addresses: ReadonlySet<string>): Promise<void> {
    const { clock } = this.#deps
    const nowMs = clock.monotonicMs()
    if (addresses.size + this.#held.size === 0 && this.#renewedMs !== -Infinity) {
      this.#renewedMs = nowMs
      return
    }
    // Those of an earlier process may still be there.
    const former = this.#renewedMs === -Infinity ? await heldAddresses() : this.#held
    await holdAddresses(addresses, former)
    this.#held = addresses
    this.#renewedMs = nowMs
  }

  async #link(isNeeded: boolean): Promise<OwnLink | undefined> {
    const nowMs = this.#deps.clock.monotonicMs()
    const isRecent = nowMs - this.#lookedMs < lookMs
    if (isRecent && this.#known !== undefined) return isNeeded ? this.#known : undefined
    if (isRecent && !isNeeded) return undefined
    this.#known = await linkOf(this.#deps.nodeAddress())
    this.#lookedMs = nowMs
    if (this.#known !== undefined) this.#deps.onNetwork(this.#known.network)
    return this.#known
  }

  async #mayTake(address: string, link: OwnLink, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#deps
    const owner = await ownerOnLink(address, link, () => clock.sleep(answerMs, signal))
    if (owner === undefined) {
      this.#refused.delete(address)
      return true
    }
    if (!this.#refused.has(address)) {
      log.error('Address of a service not announced: another machine has it', { address, owner })
    }
    this.#refused.add(address)
    return false
  }

  async #announce(link: OwnLink): Promise<void> {
    for (const [address, left] of this.#due) {
      await announce(address, link)
      if (left > 1) this.#due.set(address, left - 1)
      else this.#due.delete(address)
    }
  }
}

async function warnOfSilence(link: OwnLink, log: Logger): Promise<void> {
  const name = await silencingSwitch(link)
  if (name === undefined) return
  log.error('The machine does not answer ARP for addresses of services: set the switch to 0', {
    switch: name,
  })
}
