export type ProbeResult = 'success' | 'failure' | 'unknown'

/** Absent: the container has no such probe, or it has not run yet. */
export interface ContainerProbes {
  readonly startup?: ProbeResult
  readonly liveness?: ProbeResult
  readonly readiness?: ProbeResult
}

/** By container id. */
export type ProbeResults = ReadonlyMap<string, ContainerProbes>
