import type { GroupResource, Ingress, KubeObject, PersistentVolumeClaim } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { listTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

/** A claim that names no storage class gets the default one. */
export function createDefaultStorageClass({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.persistentVolumeClaims) &&
      subresource === '' &&
      operation === 'CREATE',
    async admit({ object }) {
      if (!object) return
      const { metadata, spec } = typed<PersistentVolumeClaim>(object)
      if (!spec || spec.storageClassName !== undefined) return
      if (metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined) return
      const name =
        defaultName(
          objects,
          wellKnown.storageClasses,
          'storageclass.kubernetes.io/is-default-class',
        ) ??
        defaultName(
          objects,
          wellKnown.storageClasses,
          'storageclass.beta.kubernetes.io/is-default-class',
        )
      if (name !== undefined) spec.storageClassName = name
    },
  }
}

/** An ingress that names no class gets the default one. */
export function createDefaultIngressClass({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    handles: ({ resource, subresource, operation }) =>
      resource.group === 'networking.k8s.io' &&
      resource.resource === 'ingresses' &&
      subresource === '' &&
      operation === 'CREATE',
    async admit({ object }) {
      if (!object) return
      const ingress = typed<Ingress>(object)
      if (ingress.spec?.ingressClassName !== undefined) return
      if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return
      const annotation = 'ingressclass.kubernetes.io/is-default-class'
      const name = defaultName(objects, wellKnown.ingressClasses, annotation)
      if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name }
    },
  }
}

/** Returns the newest class that is marked as default; of equally old ones, the first by name. */
function defaultName(
  objects: Objects,
  resource: GroupResource,
  annotation: string,
): string | undefined {
  const marked = listTyped<KubeObject>(objects, resource).filter(
    ({ metadata }) => metadata.annotations?.[annotation] === 'true',
  )
  const made = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? ''
  const [chosen] = marked.toSorted(
    (a, b) =>
      made(b).localeCompare(made(a), 'en') ||
      (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '', 'en'),
  )
  return chosen?.metadata.name
}
