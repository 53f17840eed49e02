import { asError, type Clock, type Logger, type WakeFlag } from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import { stateFile, type StateFile } from '../network/state-file.ts'
import type { PolicyWorld } from './policy-plan.ts'
import { serviceProxyBounds } from '../limits/limits-table.ts'

/** What the node knew of policies, pods and namespaces when it last heard. */
export function policySnapshot(path: string): StateFile<PolicyWorld> {
  return stateFile<PolicyWorld>(path, ['policies', 'namespaces', 'pods'])
}

export interface SaveDeps {
  snapshot: StateFile<PolicyWorld>
  clock: Clock
  log: Logger
}

const { settleMs } = serviceProxyBounds.policySnapshot

/** Writes what the node knows whenever it means something else than before, until the signal aborts. */
export async function saveChanges(
  { worldNow, unsaved }: { worldNow: () => PolicyWorld | undefined; unsaved: WakeFlag },
  { snapshot, clock, log }: SaveDeps,
  signal: AbortSignal,
): Promise<never> {
  let saved = ''
  for (;;) {
    await unsaved.wait(signal)
    await clock.sleep(settleMs, signal)
    const world = worldNow()
    const state = world && essenceOf(world)
    const text = JSON.stringify(state)
    if (!state || text === saved) continue
    try {
      await snapshot.save(state)
      saved = text
    } catch (error) {
      log.error('Network policies not written to disk, a reboot would miss the last change', {
        error: asError(error),
      })
    }
  }
}

/** Without what changes while policies mean the same. */
function essenceOf({ policies, namespaces, pods }: PolicyWorld): PolicyWorld {
  return {
    policies: policies.map(withEssentialMeta),
    namespaces: namespaces.map(withEssentialMeta),
    pods: pods.filter(({ address }) => address !== undefined).map(withEssentialMeta),
  }
}

function withEssentialMeta<T extends KubeObject>(object: T): T {
  const { name, namespace, uid, labels } = object.metadata
  return { ...object, metadata: { name, namespace, uid, labels } }
}
