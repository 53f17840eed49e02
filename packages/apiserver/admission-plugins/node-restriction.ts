import { isDeepStrictEqual } from 'node:util'
import {
  referenceOfStaticPod,
  type CertificateSigningRequest,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
  type ResourceSlice,
} from '@skerry/api'
import { readSigningRequest } from '@skerry/pki'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { nodeNameOf } from '../contract/user-names.ts'
import { isMirrorPod, mirrorAnnotation } from '../authz/node-references.ts'
import { notFound } from '../contract/status-answers.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { serviceAtNodeAddress } from './node-addresses.ts'
import { forbiddenNodeLabels } from './node-labels.ts'
import { checkNodeToken } from './node-tokens.ts'
import type { NodeWrite } from './node-write.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** Returns why the node may not write this, or undefined if it may. */
type Check = (write: NodeWrite) => string | undefined | Promise<string | undefined>

/** A node may write its own node, lease and pods and none of others, whatever its other rights. */
export function createNodeRestriction({ objects, authorizer }: PluginDeps): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: ({ user, operation }) => operation !== 'CONNECT' && nodeNameOf(user) !== undefined,
    async admit(request) {
      const nodeName = nodeNameOf(request.user)
      if (nodeName === undefined) return
      if (nodeName === '') {
        const user = JSON.stringify(request.user.name)
        throw refuse(request, `could not determine node from user ${user}`)
      }
      const { group, resource } = request.resource
      const problem = await checks[`${group}/${resource}`]?.({
        request,
        nodeName,
        objects,
        authorizer,
      })
      if (problem !== undefined) throw refuse(request, problem)
    },
  }
}

const checks: Readonly<Record<string, Check>> = Object.freeze({
  '/pods': checkPod,
  '/nodes': checkNode,
  '/persistentvolumeclaims': checkClaim,
  '/serviceaccounts': checkNodeToken,
  'coordination.k8s.io/leases': checkLease,
  'storage.k8s.io/csinodes': checkOwnName('CSINode'),
  'resource.k8s.io/resourceslices': checkSlice,
  'certificates.k8s.io/podcertificaterequests': () =>
    'nodes of this cluster make no PodCertificateRequests',
  'certificates.k8s.io/certificatesigningrequests': checkSigningRequest,
})

/** Upstream looks up the pod with its informer, whose errors use this name. */
const podWord = Object.freeze({ group: '', resource: 'pod' })

const quote = (text: string): string => JSON.stringify(text)

function checkPod(write: NodeWrite): string | undefined {
  const { request, nodeName, objects } = write
  const { operation, subresource, namespace, name } = request
  if (subresource === 'status') return checkPodStatus(write)
  if (subresource === 'eviction') {
    const pod = getTyped<Pod>(objects, wellKnown.pods, { namespace, name })
    if (!pod) throw notFound(podWord, name)
    if (pod.spec?.nodeName === nodeName) return undefined
    return `node ${nodeName} can only evict pods with spec.nodeName set to itself`
  }
  if (subresource !== '') {
    return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`
  }
  if (operation === 'CREATE') return checkMirrorPod(write)
  if (operation === 'DELETE') {
    if (!request.oldObject) throw notFound(podWord, name)
    if (typed<Pod>(request.oldObject).spec?.nodeName === nodeName) return undefined
    return `node ${quote(nodeName)} can only delete pods with spec.nodeName set to itself`
  }
  return `unexpected operation ${quote(operation)}, node ${quote(nodeName)} can only create and delete mirror pods`
}

function checkPodStatus({ request, nodeName }: NodeWrite): string | undefined {
  const { object, oldObject } = request
  if (!object || !oldObject) return `unexpected operation ${quote(request.operation)}`
  const next = typed<Pod>(object)
  const old = typed<Pod>(oldObject)
  if (old.spec?.nodeName !== nodeName) {
    return `node ${quote(nodeName)} can only update pod status for pods with spec.nodeName set to itself`
  }
  if (!isDeepStrictEqual(next.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    return `node ${quote(nodeName)} cannot update labels through pod status`
  }
  const claims = (pod: Pod) => pod.status?.resourceClaimStatuses ?? []
  if (!isDeepStrictEqual(claims(next), claims(old))) {
    return `node ${quote(nodeName)} cannot update resource claim statues`
  }
  const extended = (pod: Pod) => pod.status?.extendedResourceClaimStatus
  if (isDeepStrictEqual(extended(next), extended(old))) return undefined
  return `node ${quote(nodeName)} cannot update extended resource claim status`
}

function checkMirrorPod({ request, nodeName, objects }: NodeWrite): string | undefined {
  if (!request.object) return undefined
  const pod = typed<Pod>(request.object)
  const { metadata, spec } = pod
  const node = quote(nodeName)
  if (!isMirrorPod(pod)) {
    return `pod does not have ${quote(mirrorAnnotation)} annotation, node ${node} can only create mirror pods`
  }
  if (spec?.nodeName !== nodeName) {
    return `node ${node} can only create pods with spec.nodeName set to itself`
  }
  const [owner, ...more] = metadata.ownerReferences ?? []
  if (more.length > 0) {
    return `node ${node} can only create pods with a single owner reference set to itself`
  }
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== nodeName) {
    return `node ${node} can only create pods with an owner reference set to itself`
  }
  if (!owner.controller) {
    return `node ${node} can only create pods with a controller owner reference set to itself`
  }
  if (owner.blockOwnerDeletion) {
    return `node ${node} must not set blockOwnerDeletion on an owner reference`
  }
  const uid = objects.get(wellKnown.nodes, '', nodeName)?.metadata.uid
  if (uid === undefined) throw notFound({ group: '', resource: 'node' }, nodeName)
  if (owner.uid !== uid) return `node ${nodeName} UID mismatch: expected ${owner.uid} got ${uid}`
  const what = referenceOfStaticPod(pod)
  return what && `node ${node} can not create pods that reference ${what}`
}

function checkNode({ request, nodeName, objects }: NodeWrite): string | undefined {
  const { operation, name, object, oldObject } = request
  const node = quote(nodeName)
  const asked = name || object?.metadata.name || ''
  if (asked !== nodeName) return `node ${node} is not allowed to modify node ${quote(asked)}`
  if (!object) return undefined
  const next = typed<Node>(object)
  const old = oldObject && typed<Node>(oldObject)
  const labels = forbiddenNodeLabels(next.metadata.labels ?? {}, old?.metadata.labels ?? {})
  const source = next.spec?.configSource
  // Upstream lets a node set its range; here every other node would send it that range's traffic.
  const ranges = ({ spec }: Node): unknown => [spec?.podCIDR ?? '', spec?.podCIDRs ?? []]
  if (!isDeepStrictEqual(ranges(next), old ? ranges(old) : ['', []])) {
    return `node ${node} is not allowed to set its podCIDR`
  }
  if (operation === 'CREATE') {
    if (source) {
      return `node ${node} is not allowed to create pods with a non-nil configSource`
    }
    if (labels.length === 0) return undefined
    return `node ${node} is not allowed to set the following labels: ${labels.join(', ')}`
  }
  if (!old) return undefined
  if (source && !isDeepStrictEqual(source, old.spec?.configSource)) {
    return `node ${node} is not allowed to update configSource to a new non-nil configSource`
  }
  if (!isDeepStrictEqual(next.spec?.taints ?? [], old.spec?.taints ?? [])) {
    return `node ${node} is not allowed to modify taints`
  }
  const taken = serviceAtNodeAddress(next, old, objects)
  if (taken) {
    return `node ${node} is not allowed to take address ${taken.address}, at which service ${taken.service} is served`
  }
  const owners = ({ metadata }: Node) => metadata.ownerReferences ?? []
  if (!isDeepStrictEqual(owners(next), owners(old))) {
    return `node ${node} is not allowed to modify ownerReferences`
  }
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`
}

function checkClaim({ request, nodeName }: NodeWrite): string | undefined {
  const { object, oldObject } = request
  if (request.subresource !== 'status') return 'may only update PVC status'
  if (!object || !oldObject) return `unexpected operation ${quote(request.operation)}`
  if (isDeepStrictEqual(fixedPart(object), fixedPart(oldObject))) return undefined
  return `node ${quote(nodeName)} is not allowed to update fields other than status.quantity and status.conditions`
}

function fixedPart(object: NonNullable<AdmissionRequest['object']>): unknown {
  const claim = typed<PersistentVolumeClaim>(object)
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = claim.metadata
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...status
  } = claim.status ?? {}
  return { ...claim, metadata, status }
}

function checkLease(write: NodeWrite): string | undefined {
  const { namespace } = write.request
  if (namespace !== 'kube-node-lease') {
    return 'can only access leases in the "kube-node-lease" system namespace'
  }
  return checkOwnName('node lease')(write)
}

function checkOwnName(what: string): (write: NodeWrite) => string | undefined {
  return ({ request, nodeName }) => {
    const name = request.object?.metadata.name || request.name
    if (name === nodeName) return undefined
    return `can only access ${what} with the same name as the requesting node`
  }
}

/** The authorizer sees neither the object of a create nor each object of a deleted collection. */
function checkSlice({ request, nodeName }: NodeWrite): string | undefined {
  const { operation, object, oldObject } = request
  if (operation !== 'CREATE' && operation !== 'DELETE') return undefined
  const slice = operation === 'CREATE' ? object : oldObject
  if (slice && typed<ResourceSlice>(slice).spec.nodeName === nodeName) return undefined
  return `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`
}

const kubeletSigners: readonly string[] = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
]

async function checkSigningRequest({ request, nodeName }: NodeWrite): Promise<string | undefined> {
  if (request.operation !== 'CREATE' || request.subresource !== '' || !request.object) {
    return undefined
  }
  const { spec } = typed<CertificateSigningRequest>(request.object)
  if (!spec || !kubeletSigners.includes(spec.signerName)) return undefined
  const pem = Buffer.from(spec.request ?? '', 'base64').toString('utf8')
  try {
    const { commonName } = await readSigningRequest(pem)
    if (commonName === `system:node:${nodeName}`) return undefined
    return `can only create a node CSR with CN=system:node:${nodeName}`
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return `unable to parse csr: ${error.message}`
  }
}
