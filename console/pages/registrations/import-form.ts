/** How a cluster that exists comes to the hub: the form, and the objects that it stands for. Pure. */
import { filled, labelsOf, wordsOf } from '../../data/browser/form-values.ts'
import type { FieldFault } from '../../data/hub/hub-error.ts'

export interface ImportForm {
  readonly name: string
  /** `followed` makes an object whose steps the hub shows; the others make a token alone. */
  readonly how: 'command' | 'followed'
  readonly namespace: string
  readonly ttlSeconds: string
  readonly needsAcceptance: boolean
  readonly appliesWorks: boolean
  readonly allowsMasters: boolean
  readonly hasVirtualClusters: boolean
  readonly users: string
  readonly groups: string
  readonly services: string
  readonly region: string
  readonly zones: string
  readonly labels: string
}

export const emptyImport: ImportForm = Object.freeze({
  name: '',
  how: 'command',
  namespace: 'default',
  ttlSeconds: '86400',
  needsAcceptance: false,
  appliesWorks: false,
  allowsMasters: false,
  hasVirtualClusters: false,
  users: '',
  groups: '',
  services: '',
  region: '',
  zones: '',
  labels: '',
})

/** Returns the wish for a token and a command. The hub answers it, and keeps nothing of it but the token. */
export function registrationOf(form: ImportForm): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec: filled({
      clusterName: form.name.trim(),
      ttlSeconds: Number(form.ttlSeconds),
      needsAcceptance: form.needsAcceptance,
      applyWorks: form.appliesWorks,
      allowMasters: form.allowsMasters,
      virtualClusters: form.hasVirtualClusters,
      allowUsers: wordsOf(form.users),
      allowGroups: wordsOf(form.groups),
      allowServices: wordsOf(form.services),
      region: form.region.trim(),
      zones: wordsOf(form.zones),
      labels: labelsOf(form.labels),
    }),
  }
}

/** Returns the edge cluster that is imported. */
export function importOf(form: ImportForm): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: form.name.trim(), namespace: form.namespace.trim() },
    spec: {
      machines: [],
      import: filled({
        applyWorks: form.appliesWorks ? true : undefined,
        allowServices: wordsOf(form.services),
      }),
    },
  }
}

const fields: Readonly<Record<string, keyof ImportForm>> = {
  clusterName: 'name',
  name: 'name',
  ttlSeconds: 'ttlSeconds',
  allowUsers: 'users',
  allowGroups: 'groups',
  allowServices: 'services',
  region: 'region',
  zones: 'zones',
  labels: 'labels',
}

/** The hub's faults by the field of the form; the rest by the empty text. */
export function importFaults(faults: readonly FieldFault[]): ReadonlyMap<string, string> {
  return new Map(
    faults.map(({ field, message }) => {
      const [, inner = ''] = /^(?:spec(?:\.import)?|metadata)\.(\w+)/.exec(field) ?? []
      return [fields[inner] ?? '', message]
    }),
  )
}
