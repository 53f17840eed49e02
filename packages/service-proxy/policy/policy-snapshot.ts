import { asError, type Clock, type Logger, type WakeFlag } from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import { stateFile, type StateFile } from '../network/state-file.ts'
import type { PolicyWorld } from './policy-plan.ts'
import { serviceProxyBounds } from '../limits-table.ts'

/** Stores the policies, pods and namespaces that the node last received. */
export function policySnapshot(path: string): StateFile<PolicyWorld> {
  return stateFile<PolicyWorld>(path, ['policies', 'namespaces', 'pods'])
}

export interface SaveDeps {
  snapshot: StateFile<PolicyWorld>
  clock: Clock
  log: Logger
}

const { settleMs } = serviceProxyBounds.policySnapshot

/** Saves the node's knowledge whenever its meaning changes, until the signal aborts. */
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

/** Leaves out fields whose changes do not affect the policies. */
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
