import { RecentMap, type Clock } from '@skerry/base'
import type { TunnelSession } from '../session/hub-session.ts'
import { TunnelBusyError, TunnelClosedError } from '../frame/tunnel-message.ts'
import type { TunnelRequest, TunnelResponse, TunnelUpgraded } from '../frame/tunnel-message.ts'
import { registryDefaults, tunnelBounds } from '../limits-table.ts'

/** The error of an identity without an open tunnel. */
export class TunnelUnavailableError extends Error {
  override name = 'TunnelUnavailableError'
  readonly identity: string
  /** The time since which it is not connected, in milliseconds since the epoch; omitted if it was never seen. */
  readonly sinceMs?: number
  constructor(identity: string, last: TunnelEnd | undefined) {
    super(`Cannot reach ${identity}: ${last ? last.reason : 'it has not connected yet'}`)
    this.identity = identity
    if (last) this.sinceMs = last.atMs
  }
}

export interface TunnelEnd {
  readonly reason: string
  readonly atMs: number
  /** The time for which nothing had been heard by then. If omitted, it is not known. */
  readonly silentMs?: number
}

export type RegistryChange = 'joined' | 'left'

export interface RegistryOptions {
  sessionsMax: number
  sessionsPerIdentityMax: number
  /** A session joined or left; `count` are open now. */
  onChange?: (identity: string, change: RegistryChange, count: number) => void
}

const { endsMax } = tunnelBounds.tunnelRegistry

/** Holds the open tunnels by identity. Several agents of one identity stand in for each other. */
export class TunnelRegistry {
  readonly #sessions = new Map<string, TunnelSession[]>()
  readonly #ends = new RecentMap<string, TunnelEnd>(endsMax)
  readonly #options: RegistryOptions
  readonly #clock: Clock
  #count = 0

  constructor(options: Partial<RegistryOptions>, clock: Clock) {
    this.#options = { ...registryDefaults, ...options }
    this.#clock = clock
  }

  get size(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#count >= this.#options.sessionsMax
  }

  /** Returns the sessions, newest first. */
  sessions(identity: string): readonly TunnelSession[] {
    return this.#sessions.get(identity) ?? []
  }

  identities(): readonly string[] {
    return [...this.#sessions.keys()]
  }

  /** Returns the last end after which no session was left, even if another is open since. */
  lastEnd(identity: string): TunnelEnd | undefined {
    return this.#ends.get(identity)
  }

  /** The oldest one has to go when there are too many of one identity. */
  add(identity: string, session: TunnelSession): void {
    const sessions = [session, ...this.sessions(identity)]
    this.#sessions.set(identity, sessions)
    this.#count += 1
    void session.closed.then((reason) => this.#remove(identity, session, reason))
    this.#options.onChange?.(identity, 'joined', sessions.length)
    const surplus = sessions[this.#options.sessionsPerIdentityMax]
    surplus?.close('too many agents have this identity')
  }

  /**
   * The newest open tunnel answers. When it ends before it answered, the next one is asked, if
   * the request had not left or may be repeated (RFC 9110, 9.2.2) and its body is not used up.
   */
  send(identity: string, request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse> {
    return this.#tryEach(identity, request, (session) => session.send(request, signal))
  }

  upgrade(identity: string, request: TunnelRequest, signal: AbortSignal): Promise<TunnelUpgraded> {
    return this.#tryEach(identity, request, (session) => session.upgrade(request, signal))
  }

  /** Ends all tunnels of an identity, for example when its certificate is revoked. */
  closeIdentity(identity: string, reason: string): void {
    for (const session of this.sessions(identity)) session.close(reason)
  }

  /** Asks agents to dial again (another replica if this one stops); open streams may finish. */
  drainAll(reason: string): void {
    for (const sessions of this.#sessions.values()) {
      for (const session of sessions) session.drain(reason)
    }
  }

  closeAll(reason: string): void {
    for (const identity of this.identities()) this.closeIdentity(identity, reason)
  }

  async #tryEach<T>(
    identity: string,
    request: TunnelRequest,
    ask: (session: TunnelSession) => Promise<T>,
  ): Promise<T> {
    let fault: unknown
    for (const session of this.sessions(identity).filter(({ isOpen }) => isOpen)) {
      try {
        return await ask(session)
      } catch (error) {
        fault = error
        if (!mayRepeat(request, error)) throw error
      }
    }
    throw fault ?? new TunnelUnavailableError(identity, this.#endOf(identity))
  }

  /** Returns the end of a session, even of one that is closing right now. */
  #endOf(identity: string): TunnelEnd | undefined {
    const reason = this.sessions(identity)[0]?.endReason
    return reason === undefined ? this.#ends.get(identity) : { reason, atMs: this.#clock.now() }
  }

  #remove(identity: string, session: TunnelSession, reason: string): void {
    const rest = this.sessions(identity).filter((other) => other !== session)
    this.#count -= 1
    if (rest.length > 0) this.#sessions.set(identity, rest)
    else {
      this.#sessions.delete(identity)
      const { silentMs } = session
      this.#ends.set(identity, { reason, atMs: this.#clock.now(), silentMs })
    }
    this.#options.onChange?.(identity, 'left', rest.length)
  }
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Reports whether another tunnel may be tried after this failure: the body is complete, and the operation was
 * not carried out, or may be repeated.
 */
export function mayRepeat(request: TunnelRequest, error: unknown): boolean {
  const hasStreamBody = request.body !== undefined && !(request.body instanceof Uint8Array)
  if (error instanceof TunnelBusyError) return true
  if (!(error instanceof TunnelClosedError)) return false
  if (!error.isSent && !hasStreamBody) return true
  return safeMethods.has(request.method) && !hasStreamBody
}
