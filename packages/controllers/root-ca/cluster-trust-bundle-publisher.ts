import { createHash } from 'node:crypto'
import type { ClusterTrustBundle } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  selected,
  watch,
  type BackgroundController,
  type ControllerContext,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { whenServed } from '../reconcile/when-served.ts'

const signerName = 'kubernetes.io/kube-apiserver-serving'
const published = selected(resources.clusterTrustBundles, {
  fieldSelector: `spec.signerName=${signerName}`,
})
/** There is one object to reconcile: the signer's bundle. */
const onlyKey = 'bundle'

/** Returns a bundle's name, which identifies its content: the start of its SHA-256. */
export function bundleName(caBundlePem: string): string {
  const digest = createHash('sha256').update(caBundlePem).digest('hex').slice(0, 24)
  return `${signerName.replaceAll('/', ':')}:${digest}`
}

/** Publishes the API server's CA as the only bundle of its signer, if the server has the kind. */
export function clusterTrustBundlePublisher(caBundlePem: string): BackgroundController {
  return whenServed(resources.clusterTrustBundles, {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    workers: 1,
    watches: [
      watch(published, { keysOf: () => [onlyKey] }),
      // Every cluster has namespaces, so their arrival triggers the first bundle.
      watch(resources.namespaces, {
        keysOf: ({ type, object }) =>
          type === 'added' && object.metadata.name === 'kube-system' ? [onlyKey] : [],
      }),
    ],
    reconcile: (_key, context, signal) => reconcile(caBundlePem, context, signal),
  })
}

async function reconcile(
  caBundlePem: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const name = bundleName(caBundlePem)
  const bundles = context.informer(published)
  const client = context.client(published)
  const existing = bundles.get({ name })
  const spec = { signerName, trustBundle: caBundlePem }
  const next: ClusterTrustBundle = {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'ClusterTrustBundle',
    metadata: existing?.metadata ?? { name },
    spec,
  }
  if (existing === undefined) await client.create(next, signal)
  else if (existing.spec.trustBundle !== caBundlePem) await client.update(next, signal)
  for (const { metadata } of bundles.list()) {
    if (metadata.name === name || metadata.name === undefined) continue
    await ignoreNotFound(client.delete({ name: metadata.name }, signal))
  }
}
