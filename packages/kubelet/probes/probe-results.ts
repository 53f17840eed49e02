export type ProbeResult = 'success' | 'failure' | 'unknown'

/** A result is omitted if the container has no such probe, or it has not run yet. */
export interface ContainerProbes {
  readonly startup?: ProbeResult
  readonly liveness?: ProbeResult
  readonly readiness?: ProbeResult
}

/** The results by container id. */
export type ProbeResults = ReadonlyMap<string, ContainerProbes>
