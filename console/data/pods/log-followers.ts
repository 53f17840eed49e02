import type { HubError } from '../hub/hub-error.ts'
import { followLog, type FollowDeps } from './follow-log.ts'
import type { LogSource, LogWish } from './log-path.ts'
import type { LogTail } from './log-tail.ts'

/** Follows the logs of some containers into one tail, while pods come and go. */
export class LogFollowers {
  readonly #tail: LogTail
  readonly #wish: LogWish
  readonly #deps: FollowDeps
  readonly #followed = new Map<string, AbortController>()

  constructor(tail: LogTail, wish: LogWish, deps: FollowDeps) {
    this.#tail = tail
    this.#wish = wish
    this.#deps = deps
  }

  /** Begins with the containers that are new, and leaves those that are gone; their lines stay. */
  follow(sources: readonly LogSource[]): void {
    const names = new Set(sources.map(({ name }) => name))
    for (const [name, stop] of this.#followed) {
      if (names.has(name)) continue
      stop.abort()
      this.#followed.delete(name)
      this.#deps.onError(name, undefined)
    }
    for (const source of sources) {
      if (this.#followed.has(source.name)) continue
      const stop = new AbortController()
      this.#followed.set(source.name, stop)
      void followLog(this.#tail, { source, wish: this.#wish }, this.#deps, stop.signal)
    }
  }

  stop(): void {
    this.follow([])
  }
}

/** Returns the errors of all sources after one of them has changed. */
export function withError(
  errors: ReadonlyMap<string, HubError>,
  source: string,
  error: HubError | undefined,
): ReadonlyMap<string, HubError> {
  if (error === undefined && !errors.has(source)) return errors
  const next = new Map(errors)
  if (error === undefined) next.delete(source)
  else next.set(source, error)
  return next
}
