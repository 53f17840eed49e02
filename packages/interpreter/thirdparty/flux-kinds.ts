import type { AnyObject } from '@skerry/api'
import { objectsAt, textAt } from '@skerry/fleet-kinds'
import type { DependentObject } from '../contract/dependent-object.ts'
import type { KnownKind, KnownKinds, StatusFields } from './known-kind.ts'

/** Returns a check for a Ready condition with one of these reasons. */
function readyBy(...reasons: readonly string[]): (object: AnyObject) => boolean {
  return (object) =>
    objectsAt(object, 'status', 'conditions').some(
      (condition) =>
        textAt(condition, 'type') === 'Ready' &&
        textAt(condition, 'status') === 'True' &&
        reasons.includes(textAt(condition, 'reason')),
    )
}

function named(
  { metadata: { namespace = '' } }: AnyObject,
  kind: string,
  names: readonly string[],
): DependentObject[] {
  const once = [...new Set(names)].filter((name) => name !== '')
  return once.map((name) => ({ apiVersion: 'v1', kind, namespace, name }))
}

/** Returns the Secrets to which a spec refers, at these paths below it. */
function secretsAt(...paths: readonly (readonly string[])[]): KnownKind['dependencies'] {
  return (object) =>
    named(
      object,
      'Secret',
      paths.map((path) => textAt(object, 'spec', ...path, 'name')),
    )
}

function accountOf(object: AnyObject): DependentObject[] {
  return named(object, 'ServiceAccount', [textAt(object, 'spec', 'serviceAccountName')])
}

const retained = Object.freeze([['spec', 'suspend']])

function source(
  status: StatusFields,
  dependencies: KnownKind['dependencies'],
  health = readyBy('Succeeded'),
): KnownKind {
  return {
    health,
    retained,
    status: { hasConditions: true, objects: ['artifact'], ...status },
    ...(dependencies ? { dependencies } : {}),
  }
}

const ofOciRepository = secretsAt(['secretRef'], ['verify', 'secretRef'], ['certSecretRef'])

const sources: KnownKinds = {
  'source.toolkit.fluxcd.io/v1 GitRepository': source(
    { ofOneCopy: ['observedIgnore', 'observedRecurseSubmodules'] },
    secretsAt(['secretRef'], ['verify', 'secretRef']),
  ),
  'source.toolkit.fluxcd.io/v1beta2 OCIRepository': source(
    { texts: ['url'], ofOneCopy: ['observedIgnore', 'observedLayerSelector'] },
    (object) => [...(ofOciRepository?.(object) ?? []), ...accountOf(object)],
  ),
  'source.toolkit.fluxcd.io/v1beta2 HelmRepository': source(
    { texts: ['url'] },
    secretsAt(['secretRef']),
  ),
  'source.toolkit.fluxcd.io/v1beta2 Bucket': source(
    { texts: ['url'], ofOneCopy: ['observedIgnore'] },
    secretsAt(['secretRef']),
  ),
  'source.toolkit.fluxcd.io/v1beta2 HelmChart': source(
    { texts: ['url', 'observedChartName', 'observedSourceArtifactRevision'] },
    secretsAt(['verify', 'secretRef']),
    readyBy('Succeeded', 'ChartPullSucceeded'),
  ),
}

const ofKustomization = secretsAt(['decryption', 'secretRef'], ['kubeConfig', 'secretRef'])
const ofHelmRelease = secretsAt(
  ['chart', 'spec', 'verify', 'secretRef'],
  ['kubeConfig', 'secretRef'],
)

/** Returns the names of objects of this kind that provide values. */
function valuesFrom(object: AnyObject, kind: 'ConfigMap' | 'Secret'): string[] {
  return objectsAt(object, 'spec', 'valuesFrom')
    .filter((each) => textAt(each, 'kind') === kind)
    .map((each) => textAt(each, 'name'))
}

/** Flux's sources and the kinds that use them (fluxcd.io). */
export const fluxKinds: KnownKinds = Object.freeze({
  ...sources,
  'kustomize.toolkit.fluxcd.io/v1 Kustomization': {
    health: readyBy('ReconciliationSucceeded'),
    retained,
    status: { hasConditions: true, lastingTexts: ['lastAppliedRevision', 'lastAttemptedRevision'] },
    dependencies: (object: AnyObject) => [
      ...(ofKustomization?.(object) ?? []),
      ...accountOf(object),
    ],
  },
  'helm.toolkit.fluxcd.io/v2beta1 HelmRelease': {
    health: readyBy('ReconciliationSucceeded'),
    retained,
    status: {
      hasConditions: true,
      lastingTexts: [
        'lastAttemptedRevision',
        'lastAppliedRevision',
        'lastAttemptedValuesChecksum',
        'helmChart',
        'lastReleaseRevision',
      ],
      optionalCounts: ['failures', 'upgradeFailures', 'installFailures'],
    },
    dependencies: (object: AnyObject) => [
      ...named(object, 'Secret', [
        ...valuesFrom(object, 'Secret'),
        ...(ofHelmRelease?.(object) ?? []).map(({ name = '' }) => name),
      ]),
      ...accountOf(object),
      ...named(object, 'ConfigMap', valuesFrom(object, 'ConfigMap')),
    ],
  },
})
