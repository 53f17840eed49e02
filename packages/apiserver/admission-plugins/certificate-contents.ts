import { isDeepStrictEqual } from 'node:util'
import type { ClusterTrustBundle, PodCertificateRequest, StatusCause } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { isSignerAllowed } from '../authz/signer-right.ts'
import { typed } from '../contract/typed-objects.ts'
import { issuedCertificateCauses, notTheSigner } from './certificate-contents/issued-certificate.ts'
import { keyProofCauses } from './certificate-contents/key-proof.ts'
import { trustAnchorCauses } from './certificate-contents/trust-anchors.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'

const group = 'certificates.k8s.io'

/** Upstream checks this in its registry. Kinds here are data and know nothing of X.509. */
export function createCertificateContents(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'CertificateContents',
    handles: (request) => kindOf(request) !== undefined,
    check: {
      stands: 'after',
      async causesOf(request, own) {
        if (own.some(({ field = '' }) => isUnreadable.test(field))) return []
        if (kindOf(request) === 'ClusterTrustBundle') return bundleCauses(request, own)
        // Other errors of a status are reported before its certificates are checked.
        if (request.oldObject && own.length > 0) return []
        return await requestCauses(request, deps)
      },
    },
  }
}

/** If these fields are too long, or more than one of them is set, none is read. */
const isUnreadable = /^spec(\.(stubPKCS10Request|pkixPublicKey|proofOfPossession))?$/

function kindOf({ resource, subresource, operation }: AdmissionRequest) {
  if (resource.group !== group) return undefined
  const isCreate = operation === 'CREATE'
  const isStatus = operation === 'UPDATE' && subresource === 'status'
  if (resource.resource === 'clustertrustbundles' && (isCreate || operation === 'UPDATE')) {
    return 'ClusterTrustBundle'
  }
  const isRequest = resource.resource === 'podcertificaterequests'
  return isRequest && (isCreate || isStatus) ? 'PodCertificateRequest' : undefined
}

function bundleCauses(
  { object, oldObject }: AdmissionRequest,
  own: readonly StatusCause[],
): StatusCause[] {
  if (!object || own.some(({ reason }) => reason === 'FieldValueTooLong')) return []
  const old = oldObject && typed<ClusterTrustBundle>(oldObject)
  return trustAnchorCauses(typed<ClusterTrustBundle>(object), old)
}

async function requestCauses(
  { object, oldObject, user }: AdmissionRequest,
  { authorizer, clock }: PluginDeps,
): Promise<StatusCause[]> {
  if (!object) return []
  const next = typed<PodCertificateRequest>(object)
  if (!oldObject) return await keyProofCauses(next.spec)
  const old = typed<PodCertificateRequest>(oldObject)
  if (isDeepStrictEqual(next.status, old.status)) return []
  const found = issuedCertificateCauses({ next, nowMs: clock.now() })
  if (found.length > 0) return found
  const { signerName } = old.spec
  if (await isSignerAllowed(authorizer, { user, verb: 'sign', signerName })) return []
  return [notTheSigner(user.name, signerName)]
}
