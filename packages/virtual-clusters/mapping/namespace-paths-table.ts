const targetRefs = (list: string): string => `${list}.*.targetRef.namespace`

/** The references of HTTPRoute and similar kinds: to their parents, and to the targets of requests. */
const routePaths: readonly string[] = [
  'spec.parentRefs.*.namespace',
  'spec.rules.*.backendRefs.*.namespace',
  'spec.rules.*.backendRefs.*.filters.*.requestMirror.backendRef.namespace',
  'spec.rules.*.filters.*.requestMirror.backendRef.namespace',
]

/** The Secrets of CSI drivers and older volumes, which can be in any namespace that a volume names. */
const volumePaths: readonly string[] = [
  'spec.claimRef.namespace',
  'spec.azureFile.secretNamespace',
  'spec.cephfs.secretRef.namespace',
  'spec.cinder.secretRef.namespace',
  'spec.csi.controllerExpandSecretRef.namespace',
  'spec.csi.controllerPublishSecretRef.namespace',
  'spec.csi.nodeExpandSecretRef.namespace',
  'spec.csi.nodePublishSecretRef.namespace',
  'spec.csi.nodeStageSecretRef.namespace',
  'spec.flexVolume.secretRef.namespace',
  'spec.glusterfs.endpointsNamespace',
  'spec.iscsi.secretRef.namespace',
  'spec.rbd.secretRef.namespace',
  'spec.scaleIO.secretRef.namespace',
  'spec.storageos.secretRef.namespace',
]

/** Where a manifest names a namespace other than in its own metadata, by group and kind. */
export const namespacePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/Endpoints': [targetRefs('subsets.*.addresses'), targetRefs('subsets.*.notReadyAddresses')],
  '/Event': ['involvedObject.namespace', 'related.namespace'],
  '/PersistentVolume': volumePaths,
  '/ServiceAccount': ['secrets.*.namespace'],
  'discovery.k8s.io/EndpointSlice': [targetRefs('endpoints')],
  'events.k8s.io/Event': ['regarding.namespace', 'related.namespace'],
  'gateway.networking.k8s.io/Gateway': [
    'spec.listeners.*.tls.certificateRefs.*.namespace',
    'spec.listeners.*.tls.frontendValidation.caCertificateRefs.*.namespace',
    'spec.tls.frontend.default.validation.caCertificateRefs.*.namespace',
    'spec.tls.frontend.perPort.*.tls.validation.caCertificateRefs.*.namespace',
    'spec.tls.backend.clientCertificateRef.namespace',
  ],
  'gateway.networking.k8s.io/GRPCRoute': routePaths,
  'gateway.networking.k8s.io/HTTPRoute': routePaths,
  'gateway.networking.k8s.io/ReferenceGrant': ['spec.from.*.namespace'],
  'gateway.networking.k8s.io/TCPRoute': routePaths,
  'gateway.networking.k8s.io/TLSRoute': routePaths,
  'gateway.networking.k8s.io/UDPRoute': routePaths,
})

/** Where a status names namespaces, by their names in the edge cluster. */
export const statusNamespacePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  'gateway.networking.k8s.io/GRPCRoute': ['parents.*.parentRef.namespace'],
  'gateway.networking.k8s.io/HTTPRoute': ['parents.*.parentRef.namespace'],
  'gateway.networking.k8s.io/TCPRoute': ['parents.*.parentRef.namespace'],
  'gateway.networking.k8s.io/TLSRoute': ['parents.*.parentRef.namespace'],
  'gateway.networking.k8s.io/UDPRoute': ['parents.*.parentRef.namespace'],
})
