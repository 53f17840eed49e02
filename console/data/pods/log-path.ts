/** Where the log of a container is asked for. Pure. */

export interface LogSource {
  /** `pod/container`, as lines name it. */
  readonly name: string
  /** The address of the log, without a query. */
  readonly path: string
  readonly container: string
}

export interface LogWish {
  readonly isFollowing: boolean
  /** The log of the container's previous run. */
  readonly isPrevious: boolean
  readonly tailLines: number
}

/** Returns the address of the log from a time, or of its last lines. */
export function logPath(source: LogSource, wish: LogWish, fromTime: string | undefined): string {
  const query = new URLSearchParams({ container: source.container, timestamps: 'true' })
  if (wish.isFollowing && !wish.isPrevious) query.set('follow', 'true')
  if (wish.isPrevious) query.set('previous', 'true')
  // The server counts sinceTime in whole seconds.
  if (fromTime === undefined) query.set('tailLines', String(wish.tailLines))
  else query.set('sinceTime', fromTime.replace(/\.\d+/, ''))
  return `${source.path}?${query.toString()}`
}
