import { asError, type Clock, type Logger, type Random } from '@skerry/base'
import { createInformer, type ClusterClient } from '@skerry/client'
import type { CopyFile } from '../copies/copy-file.ts'
import {
  offlineWritesResource,
  policyFor,
  type OfflinePolicy,
  type OfflineQuestion,
  type OfflineWrites,
} from '../kinds/offline-writes.ts'

export interface OfflinePoliciesDeps {
  /** The control plane as the node itself, which may read the policies. */
  readonly cluster: ClusterClient
  readonly file: CopyFile
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const factName = 'offline-writes'

/** The policies of the site on writes while it is away, as the node last saw them. */
export class OfflinePolicies {
  readonly #deps: OfflinePoliciesDeps
  #policies: readonly OfflinePolicy[]

  constructor(deps: OfflinePoliciesDeps) {
    this.#deps = deps
    const stored = deps.file.fact(factName)
    // #take wrote it.
    this.#policies = stored === undefined ? [] : (JSON.parse(stored) as OfflinePolicy[])
  }

  get all(): readonly OfflinePolicy[] {
    return this.#policies
  }

  find(question: OfflineQuestion): OfflinePolicy | undefined {
    return policyFor(this.#policies, question)
  }

  /** Follows the policies until the signal aborts. A control plane that does not know the kind has none. */
  async run(signal: AbortSignal, onChange: () => void): Promise<void> {
    const { cluster, log } = this.#deps
    const informer = createInformer(cluster.resource(offlineWritesResource), {}, this.#deps)
    using _changes = informer.onChange(() => {
      if (informer.hasSynced()) this.#take(informer.list(), onChange)
    })
    void informer.whenSynced(signal).then(
      () => this.#take(informer.list(), onChange),
      (error: unknown) => log.debug('Policies not followed', { error: asError(error) }),
    )
    await informer.run(signal)
  }

  #take(objects: readonly OfflineWrites[], onChange: () => void): void {
    const policies = objects.map(({ metadata, spec }) => ({ ...spec, name: metadata.name ?? '' }))
    const text = JSON.stringify(policies)
    if (text === JSON.stringify(this.#policies)) return
    this.#policies = policies
    this.#deps.file.putFact(factName, text)
    this.#deps.log.info('Policies of offline writes changed', { policies: policies.length })
    onChange()
  }
}
