import type { CertificateSigningRequest, Node, SubjectAccessReview } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { readSigningRequest, type SigningRequest } from '@skerry/pki'
import { timestamp } from '../status/timestamp.ts'
import { automaticApprovals, type AutomaticApproval } from './approval-plan.ts'

/** Approves nodes' requests if RBAC lets the requester have them approved automatically. */
export const csrApprovingController: ControllerDefinition = {
  name: 'certificatesigningrequest-approving-controller',
  watches: [
    watch(resources.certificateSigningRequests, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
    // A node's serving certificate waits until its Node object lists its addresses.
    watch(resources.nodes, { keysOf: ({ object }, context) => waitingRequests(object, context) }),
  ],
  reconcile,
}

function waitingRequests(node: Node, context: ControllerContext): string[] {
  return context
    .informer(resources.certificateSigningRequests)
    .list()
    .filter((csr) => csr.spec?.username === `system:node:${node.metadata.name}` && !hasVerdict(csr))
    .map(keyOfObject)
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const csr = context.informer(resources.certificateSigningRequests).get(parseKey(key))
  if (csr === undefined || hasVerdict(csr) || csr.status?.certificate) return
  const request = await readRequest(csr)
  if (request === undefined) return
  for (const approval of automaticApprovals(csr, request, addressesOf(context))) {
    if (!(await isAllowed(csr, approval, { context, signal }))) continue
    await approve(csr, approval, { context, signal })
    return
  }
}

function addressesOf(
  context: ControllerContext,
): (nodeName: string) => ReadonlySet<string> | undefined {
  return (name) => {
    const node = context.informer(resources.nodes).get({ name })
    if (node === undefined) return undefined
    return new Set([name, ...(node.status?.addresses ?? []).map((each) => each.address)])
  }
}

function hasVerdict(csr: CertificateSigningRequest): boolean {
  return (csr.status?.conditions ?? []).some(
    (each) => each.type === 'Approved' || each.type === 'Denied',
  )
}

/**
 * Resolves to undefined if it does not parse: the API server checked it, so only a later format
 * could fail.
 */
export async function readRequest(
  csr: CertificateSigningRequest,
): Promise<SigningRequest | undefined> {
  const pem = Buffer.from(csr.spec?.request ?? '', 'base64').toString('utf8')
  try {
    return await readSigningRequest(pem)
  } catch {
    // This controller does not report it: nobody approves it, and the signer fails it with the
    // reason.
    return undefined
  }
}

interface Scope {
  context: ControllerContext
  signal: AbortSignal
}

async function isAllowed(
  csr: CertificateSigningRequest,
  approval: AutomaticApproval,
  { context, signal }: Scope,
): Promise<boolean> {
  const review: SubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user: csr.spec?.username,
      uid: csr.spec?.uid,
      groups: csr.spec?.groups,
      extra: csr.spec?.extra,
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
        subresource: approval.subresource,
        version: '*',
      },
    },
  }
  const answer = await context.client(resources.subjectAccessReviews).create(review, signal)
  return answer.status?.allowed === true
}

async function approve(
  csr: CertificateSigningRequest,
  approval: AutomaticApproval,
  { context, signal }: Scope,
): Promise<void> {
  const nowText = timestamp(context.clock.now())
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: approval.message,
    lastUpdateTime: nowText,
    lastTransitionTime: nowText,
  }
  const body = {
    ...csr,
    status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] },
  }
  await context
    .client(resources.certificateSigningRequests)
    .updateSubresource({ name: csr.metadata.name ?? '', subresource: 'approval', body }, signal)
}
