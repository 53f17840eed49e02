import type { AnyObject } from '@skerry/api'
import { fieldAt, kindKey, objectsAt, textAt, withField, withoutField } from '@skerry/fleet-kinds'

/**
 * Returns the object without the fields that API servers and controllers set. The rest is what a user wants,
 * and may be sent to another cluster.
 */
export function pruned(object: AnyObject): AnyObject {
  const { status: _status, ...rest } = object
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([field]) => !servedFields.has(field)),
  )
  const wanted: AnyObject = {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata,
  }
  return rules[kindKey(object)]?.(wanted) ?? wanted
}

const servedFields: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
  'ownerReferences',
  'finalizers',
])

type PruneRule = (object: AnyObject) => AnyObject

const rules: Readonly<Record<string, PruneRule>> = Object.freeze({
  'apps/v1 Deployment': (object) =>
    withoutAnnotations(object, [
      'deployment.kubernetes.io/revision',
      'deployment.kubernetes.io/revision-history',
    ]),
  'batch/v1 Job': pruneJob,
  'v1 Secret': pruneSecret,
  'v1 Service': pruneService,
  'v1 ServiceAccount': pruneServiceAccount,
  'v1 PersistentVolumeClaim': (object) =>
    withoutAnnotations(object, ['volume.kubernetes.io/selected-node']),
})

function withoutAnnotations(object: AnyObject, keys: readonly string[]): AnyObject {
  return keys.reduce((left, key) => withoutField(left, ['metadata', 'annotations', key]), object)
}

const selectorLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid']
const templateLabels = [...selectorLabels, 'job-name', 'batch.kubernetes.io/job-name']

/** Removes the time to live: a finished Job that its cluster cleans up would be recreated forever. */
function pruneJob(job: AnyObject): AnyObject {
  const lasting = withoutField(job, ['spec', 'ttlSecondsAfterFinished'])
  if (fieldAt(job, 'spec', 'manualSelector') === true) return lasting
  const selector = ['spec', 'selector', 'matchLabels']
  const template = ['spec', 'template', 'metadata', 'labels']
  return [
    ...selectorLabels.map((label) => [...selector, label]),
    ...templateLabels.map((label) => [...template, label]),
  ].reduce((left, path) => withoutField(left, path), lasting)
}

/** Removes the token, which belongs to the cluster it came from. */
function pruneSecret(secret: AnyObject): AnyObject {
  if (secret['type'] !== 'kubernetes.io/service-account-token') return secret
  const bare = withoutAnnotations(secret, ['kubernetes.io/service-account.uid'])
  return withoutField(bare, ['data'])
}

/** Removes the address, which each cluster assigns; a headless service keeps its `None`. */
function pruneService(service: AnyObject): AnyObject {
  const address = textAt(service, 'spec', 'clusterIP')
  if (address === '' || address === 'None') return service
  return withoutField(withoutField(service, ['spec', 'clusterIP']), ['spec', 'clusterIPs'])
}

function pruneServiceAccount(account: AnyObject): AnyObject {
  const prefix = `${account.metadata.name ?? ''}-token-`
  const secrets = objectsAt(account, 'secrets')
  const kept = secrets.filter((secret) => !textAt(secret, 'name').startsWith(prefix))
  return kept.length === secrets.length ? account : withField(account, ['secrets'], kept)
}
