import type { Pod, Secret, Service } from '@skerry/api'
import type { VolumeSources } from '../volumes/volume.ts'

/** The node's own copies of what its pods name; node-store.ts keeps them. */
export interface NodeObjects extends VolumeSources {
  /** Returns the services of that namespace, and the API server's own. */
  services(namespace: string): readonly Service[]
  /** Returns those of the pod's imagePullSecrets that exist. */
  pullSecrets(pod: Pod): Secret[]
  /** Resolves once everything the pod names was asked for at least once, or is known from disk. */
  whenKnown(pod: Pod, signal: AbortSignal): Promise<void>
  /** The handler of a RuntimeClass; undefined when there is no such class. */
  runtimeHandler(runtimeClass: string, signal: AbortSignal): Promise<string | undefined>
}
