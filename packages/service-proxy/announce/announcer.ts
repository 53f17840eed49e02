import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import { serviceProxyBounds } from '../limits-table.ts'
import {
  announce,
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
  let wanted: ReadonlySet<string> = new Set()
  const changed = createWakeFlag()
  return {
    get held() {
      return hand.held
    },
    setWanted(addresses) {
      if (addresses.symmetricDifference(wanted).size === 0) return
      wanted = addresses
      changed.raise()
    },
    async run(signal) {
      for (;;) {
        changed.lower()
        try {
          await hand.renew(wanted, signal)
        } catch (error) {
          signal.throwIfAborted()
          const cause = { error: asError(error) }
          deps.log.error('Addresses of services not announced, trying again', cause)
        }
        const isBusy = wanted.size + hand.held.size > 0
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
    }
    for (const address of this.#due.keys()) if (!this.#held.has(address)) this.#due.delete(address)
    if (this.#held.symmetricDifference(before).size > 0) {
      this.#deps.onHeld()
      log.info('Addresses of services announced', { addresses: [...this.#held].join(', ') })
      if (link !== undefined) await warnOfSilence(link, log)
    }
    if (link !== undefined) await this.#announce(link)
  }

  async #hold(addresses: ReadonlySet<string>): Promise<void> {
    const { clock } = this.#deps
    const nowMs = clock.monotonicMs()
    if (addresses.size + this.#held.size === 0 && this.#renewedMs !== -Infinity) {
      this.#renewedMs = nowMs
      return
    }
    await holdAddresses([...addresses])
    this.#held = addresses
    this.#renewedMs = nowMs
  }

  async #link(isNeeded: boolean): Promise<OwnLink | undefined> {
    const nowMs = this.#deps.clock.monotonicMs()
    if (!isNeeded && nowMs - this.#lookedMs < lookMs) return undefined
    const link = await linkOf(this.#deps.nodeAddress())
    this.#lookedMs = nowMs
    if (link !== undefined) this.#deps.onNetwork(link.network)
    return link
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
