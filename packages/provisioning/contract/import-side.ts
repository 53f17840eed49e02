import type { EdgeCluster } from '../kind/edge-cluster.ts'

/** The hub's side of importing clusters. Each call rejects if the name is not this object's. */
export interface ImportSide {
  /** Keeps the Secret with which the cluster's agent registers, and renews it before its token expires. */
  keepJoin(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<JoinSecret>
  /** Deletes that Secret, and the tokens that nobody needs any more. */
  endJoin(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<void>
  state(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<ImportedState>
  /**
   * Removes the agent's objects from the cluster, through its own tunnel. Resolves false if there are none. Rejects with
   * a StepError that says how a person does it.
   */
  removeAgent(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<boolean>
}

export interface JoinSecret {
  readonly name: string
  /** RFC 3339. */
  readonly expires: string
  readonly isNew: boolean
}

export interface ImportedState {
  /** An agent has registered, now or before. */
  readonly isRegistered: boolean
  readonly isConnected: boolean
  readonly isReady: boolean
  /** Why it is not ready, if the agent says so. */
  readonly problem?: string
  readonly kubernetesVersion?: string
  readonly nodes?: number
}
