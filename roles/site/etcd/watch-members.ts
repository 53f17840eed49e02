import { logFailure, type Clock, type Logger } from '@skerry/base'
import type { EtcdMember } from '@skerry/store'
import { clusterState, type ClusterState } from './cluster-state.ts'
import { portOf, type EtcdFiles } from './embedded-options.ts'
import type { MemberClients } from './member-clients.ts'
import { writeMemberRecord, type MemberRecord } from './member-record.ts'
import { siteBounds } from '../limits-table.ts'

export interface WatchDeps {
  readonly clients: MemberClients
  readonly files: EtcdFiles
  readonly clock: Clock
  readonly log: Logger
}

const { lookMs, startLookMs, sayMs } = siteBounds.etcd.watch

/** Knows how the members are, as this master sees them, and remembers how to reach the others. */
export class MemberWatch {
  readonly #deps: WatchDeps
  #record: MemberRecord
  #members: readonly EtcdMember[] = []
  #state: ClusterState = clusterState([], [])

  constructor(record: MemberRecord, deps: WatchDeps) {
    this.#record = record
    this.#deps = deps
  }

  get state(): ClusterState {
    return this.#state
  }

  get record(): MemberRecord {
    return this.#record
  }

  /** The URL of this master's own member, on the loopback. */
  get ownUrl(): string {
    return localUrl(this.#record.clientUrl)
  }

  /** True if this master's own member leads the others. */
  get isLeader(): boolean {
    return this.#state.members.some(({ id, isLeader }) => isLeader && id === this.#record.memberId)
  }

  /** Resolves once the members have a leader and this one follows it. Says in the log how they are meanwhile. */
  async untilQuorum(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let saidMs = clock.monotonicMs()
    while (!(await this.#serves(signal))) {
      if (clock.monotonicMs() - saidMs >= sayMs) {
        saidMs = clock.monotonicMs()
        log.info('Waiting for the other members of etcd', { state: this.#state.text })
      }
      await clock.sleep(startLookMs, signal)
    }
    log.info('Members of etcd', { state: this.#state.text })
  }

  /** Looks at the members until the signal aborts, and logs each change. */
  async run(signal: AbortSignal): Promise<never> {
    const { clock, log } = this.#deps
    for (;;) {
      await clock.sleep(lookMs, signal)
      const before = this.#state
      await this.#look(signal)
      if (this.#isOwnSilent() && (await this.#wasRemoved(signal))) {
        this.#state = { ...this.#state, hasQuorum: false, text: removedText(this.#record) }
      }
      if (this.#state.text === before.text) continue
      // Lost redundancy is a fact, and a lost quorum needs a person.
      const level = before.hasQuorum && !this.#state.hasQuorum ? 'error' : 'info'
      log[level]('Members of etcd', { state: this.#state.text })
    }
  }

  /** Looks once more, for callers that have just changed the members. */
  async look(signal: AbortSignal): Promise<ClusterState> {
    await this.#look(signal)
    return this.#state
  }

  #isOwnSilent(): boolean {
    const own = this.#state.members.find(({ id }) => id === this.#record.memberId)
    return own?.status === undefined
  }

  /** Asks the others, who decide about it; silence proves nothing. */
  async #wasRemoved(signal: AbortSignal): Promise<boolean> {
    const { memberId, others } = this.#record
    const urls = others.map(({ clientUrl }) => clientUrl)
    try {
      const members = await this.#deps.clients.first(urls, (each) => each.members(signal), signal)
      return !members.some(({ id }) => id === memberId)
    } catch {
      signal.throwIfAborted()
      return false
    }
  }

  async #serves(signal: AbortSignal): Promise<boolean> {
    await this.#look(signal)
    const own = this.#deps.clients.at(this.ownUrl)
    try {
      // This one needs the quorum.
      this.#members = await own.members(signal)
      return this.#state.hasQuorum
    } catch {
      // The state says why; the caller logs it.
      signal.throwIfAborted()
      return false
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clients, log } = this.#deps
    const own = this.ownUrl
    try {
      this.#members = await clients.at(own).members(signal, false)
    } catch {
      // Its own member is silent; those that were there last still count.
      signal.throwIfAborted()
    }
    // The own member is asked on the loopback, where no cut between machines hides it.
    const asked = this.#members.map((member) =>
      member.clientUrls.includes(this.#record.clientUrl)
        ? { ...member, clientUrls: [own] }
        : member,
    )
    const seen = await clients.look(asked, signal)
    this.#state = { ...seen, members: seen.members.map((each) => ({ ...each })) }
    clients.keepOnly([own, ...asked.flatMap(({ clientUrls }) => clientUrls)])
    try {
      await this.#remember()
    } catch (error) {
      logFailure(log, {
        subject: 'Record of the members',
        message: 'Addresses of the other masters not saved',
        error,
      })
    }
  }

  async #remember(): Promise<void> {
    const own = this.#members.find(({ clientUrls }) => clientUrls.includes(this.#record.clientUrl))
    if (own === undefined) return
    const others = this.#members.flatMap(({ id, name, clientUrls: [clientUrl] }) =>
      id === own.id || clientUrl === undefined ? [] : [{ name, clientUrl }],
    )
    const next: MemberRecord = { ...this.#record, memberId: own.id, stage: 'member', others }
    if (own.isLearner || JSON.stringify(next) === JSON.stringify(this.#record)) return
    await writeMemberRecord(this.#deps.files.record, next)
    this.#record = next
  }
}

function removedText({ name }: MemberRecord): string {
  return `another master has removed ${name}: stop this site, or start it again with --join and a new token`
}

/** The same port on this machine's loopback. */
export function localUrl(clientUrl: string): string {
  return `https://127.0.0.1:${portOf(clientUrl)}`
}
