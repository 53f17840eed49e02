import { isDeepStrictEqual } from 'node:util'
import { isStatusError } from '@skerry/api'
import { parseKey, resources } from '@skerry/client'
import { selected, watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { activeNamespace } from '../serviceaccount/service-account-controller.ts'

const configMapName = 'kube-root-ca.crt'
const descriptionAnnotation = 'kubernetes.io/description'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints ' +
  'such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.'
const published = selected(resources.configMaps, {
  fieldSelector: `metadata.name=${configMapName}`,
})

/** Writes the API server's CA into every namespace, for pods' service account volumes. */
export function rootCaPublisher(caBundlePem: string): ControllerDefinition {
  return {
    name: 'root-ca-certificate-publisher-controller',
    watches: [
      watch(resources.namespaces, { keysOf: activeNamespace }),
      watch(published, { keysOf: ({ object }) => [object.metadata.namespace ?? ''] }),
    ],
    async reconcile(key, context, signal) {
      const namespace = context.informer(resources.namespaces).get(parseKey(key))
      if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return
      const place = { namespace: namespace.metadata.name, name: configMapName }
      const existing = context.informer(published).get(place)
      const data = { 'ca.crt': caBundlePem }
      const { annotations = {} } = existing?.metadata ?? {}
      const isDescribed = (annotations[descriptionAnnotation] ?? '') !== ''
      if (existing !== undefined && isDeepStrictEqual(existing.data, data) && isDescribed) return
      const next = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          ...(existing?.metadata ?? place),
          annotations: { ...annotations, [descriptionAnnotation]: description },
        },
        data,
      }
      const client = context.client(published)
      try {
        await (existing === undefined ? client.create(next, signal) : client.update(next, signal))
      } catch (error) {
        // The namespace is gone or being deleted, and needs no certificate.
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Forbidden')) throw error
      }
    },
  }
}
