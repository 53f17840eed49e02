import { isDeepStrictEqual } from 'node:util'
import type { CertificateSigningRequest, ClusterTrustBundle } from '@skerry/api'
import { readSigningRequest } from '@skerry/pki'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Authorizer } from '../contract/access.ts'
import { systemGroups } from '../contract/user-names.ts'
import { isCollectionOnly } from '../authz/collection-only.ts'
import { isSignerAllowed } from '../authz/signer-right.ts'
import { typed } from '../contract/typed-objects.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

const clientSigner = 'kubernetes.io/kube-apiserver-client'

/**
 * Approving needs the right to approve for that signer, in addition to the right to write the
 * request.
 */
export function createCertificateApproval({ authorizer }: PluginDeps): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: (request) => isRequest(request, 'UPDATE', 'approval'),
    validate: (request) => requireSigner(request, 'approve', authorizer),
  }
}

/** Signing needs the right to sign for that signer in the same way. */
export function createCertificateSigning({ authorizer }: PluginDeps): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: (request) => isRequest(request, 'UPDATE', 'status'),
    async validate(request) {
      const next = request.object && typed<CertificateSigningRequest>(request.object).status
      const old = request.oldObject && typed<CertificateSigningRequest>(request.oldObject).status
      const isSame =
        next?.certificate === old?.certificate &&
        isDeepStrictEqual(next?.conditions ?? [], old?.conditions ?? [])
      if (!isSame) await requireSigner(request, 'sign', authorizer)
    },
  }
}

/** Publishing a trust bundle in a signer's name needs the right to attest for that signer. */
export function createClusterTrustBundleAttest({ authorizer }: PluginDeps): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    handles: ({ resource, operation }) =>
      resource.group === 'certificates.k8s.io' &&
      resource.resource === 'clustertrustbundles' &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    async validate(request) {
      const { object, oldObject, user } = request
      const signerName = object && typed<ClusterTrustBundle>(object).spec?.signerName
      if (!object || !signerName || (oldObject && isCollectionOnly(object, oldObject))) return
      if (await isSignerAllowed(authorizer, { user, verb: 'attest', signerName })) return
      const signer = JSON.stringify(signerName)
      throw refuse(request, `user not permitted to attest for signerName ${signer}`)
    },
  }
}

/** A signed request cannot make anybody a member of system:masters. */
export function createCertificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    handles: (request) => isRequest(request, 'CREATE', ''),
    async validate(request) {
      const spec = request.object && typed<CertificateSigningRequest>(request.object).spec
      if (spec?.signerName !== clientSigner) return
      const pem = Buffer.from(spec.request ?? '', 'base64').toString('utf8')
      const asked = await parse(request, pem)
      if (!asked.organizations.includes(systemGroups.masters)) return
      throw refuse(
        request,
        `use of ${clientSigner} signer with ${systemGroups.masters} group is not allowed`,
      )
    },
  }
}

async function parse(request: AdmissionRequest, pem: string) {
  try {
    return await readSigningRequest(pem)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw refuse(request, `failed to parse CSR: ${error.message}`)
  }
}

function isRequest(request: AdmissionRequest, operation: string, subresource: string): boolean {
  return (
    request.resource.group === 'certificates.k8s.io' &&
    request.resource.resource === 'certificatesigningrequests' &&
    request.operation === operation &&
    request.subresource === subresource
  )
}

/** Checks the old object, so that changing the signer in the same write does not help. */
async function requireSigner(
  request: AdmissionRequest,
  verb: 'approve' | 'sign',
  authorizer: Authorizer,
): Promise<void> {
  const old = request.oldObject && typed<CertificateSigningRequest>(request.oldObject)
  const signerName = old?.spec?.signerName ?? ''
  if (await isSignerAllowed(authorizer, { user: request.user, verb, signerName })) return
  throw refuse(
    request,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`,
  )
}
