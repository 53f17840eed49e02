import type { AnyObject } from '@skerry/api'
import type { JournaledWrite } from '../writes/journaled-write.ts'

/** Returns a ConfigMap as a control plane has it. */
export function configMap(data: Record<string, string>, metadata: object = {}): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'shop', uid: 'u1', resourceVersion: '5', ...metadata },
    data,
  }
}

/** Returns an update of a ConfigMap by a pod of the node; a test changes what matters to it. */
export function writeOf(own: Partial<JournaledWrite> = {}): JournaledWrite {
  return {
    user: 'system:serviceaccount:shop:app',
    account: { namespace: 'shop', name: 'app' },
    pod: { namespace: 'shop', name: 'app', uid: 'pod-1' },
    verb: 'update',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'shop',
    name: 'a',
    fieldManager: 'app',
    winner: 'cloud',
    atMs: Date.parse('2026-01-01T00:00:10Z'),
    revision: 6,
    base: configMap({ color: 'red' }),
    edge: configMap({ color: 'blue' }),
    ...own,
  }
}
