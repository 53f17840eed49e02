import type { CertificateSigningRequest } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { signCertificate, type Authority, type KeyUsage, type SigningRequest } from '@skerry/pki'
import { timestamp } from '../status/timestamp.ts'
import { clientSigner, nodeClientSigner, nodeServingSigner } from './approval-plan.ts'
import { readRequest } from './csr-approving-controller.ts'

export interface CsrSigningOptions {
  /** Signs client certificates; the API server trusts it for clients. */
  clientAuthority: Authority
  /** Signs the nodes' serving certificates; the API server trusts it for nodes. */
  servingAuthority: Authority
  /** Longest life of what is signed, in seconds; upstream's default is a year. */
  durationSecondsMax: number
}

/** Certificates begin a little in the past: a client's clock may run behind ours. */
const backdateMs = 5 * 60_000

/** API usages and what they are in a certificate (RFC 5280 4.2.1.3). */
const keyUsageOf: Readonly<Record<string, KeyUsage>> = Object.freeze({
  'digital signature': 'digitalSignature',
  'key encipherment': 'keyEncipherment',
})
const extendedUsageOf: Readonly<Record<string, string>> = Object.freeze({
  'client auth': 'clientAuth',
  'server auth': 'serverAuth',
})

/** Which usages a signer gives; the API's rules for each signer name. */
const usagesOfSigner: Readonly<Record<string, { needed: string; allowed: readonly string[] }>> =
  Object.freeze({
    [clientSigner]: {
      needed: 'client auth',
      allowed: ['digital signature', 'key encipherment', 'client auth'],
    },
    [nodeClientSigner]: {
      needed: 'client auth',
      allowed: ['digital signature', 'key encipherment', 'client auth'],
    },
    [nodeServingSigner]: {
      needed: 'server auth',
      allowed: ['digital signature', 'key encipherment', 'server auth'],
    },
  })

/** Signs approved requests of Kubernetes' own signers; a request that breaks a signer's rules gets condition Failed. */
export function csrSigningController(options: CsrSigningOptions): ControllerDefinition {
  return {
    name: 'certificatesigningrequest-signing-controller',
    watches: [
      watch(resources.certificateSigningRequests, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      }),
    ],
    async reconcile(key, context, signal) {
      const csr = context.informer(resources.certificateSigningRequests).get(parseKey(key))
      if (csr === undefined || !isWaiting(csr)) return
      const request = await readRequest(csr)
      const fault = request === undefined ? 'it is not a PKCS#10 request' : faultOf(csr, request)
      const status =
        request === undefined || fault !== undefined
          ? failed(csr, `Cannot sign: ${fault}`, context)
          : { ...csr.status, certificate: await sign(csr, request, { options, context }) }
      await context
        .client(resources.certificateSigningRequests)
        .updateStatus({ ...csr, status }, signal)
    },
  }
}

function isWaiting(csr: CertificateSigningRequest): boolean {
  const types = new Set((csr.status?.conditions ?? []).map((each) => each.type))
  const isOurs = usagesOfSigner[csr.spec?.signerName ?? ''] !== undefined
  return (
    isOurs &&
    types.has('Approved') &&
    !types.has('Denied') &&
    !types.has('Failed') &&
    !csr.status?.certificate
  )
}

/** What the request asks against its signer's rules; undefined when it is in order. */
export function faultOf(
  csr: CertificateSigningRequest,
  request: SigningRequest,
): string | undefined {
  const rules = usagesOfSigner[csr.spec?.signerName ?? '']
  if (rules === undefined) return `the signer ${csr.spec?.signerName} is not known here`
  const usages = csr.spec?.usages ?? []
  const foreign = usages.find((usage) => !rules.allowed.includes(usage))
  if (foreign !== undefined) return `usage "${foreign}" is not given by ${csr.spec?.signerName}`
  if (!usages.includes(rules.needed)) return `usage "${rules.needed}" is missing`
  if (csr.spec?.signerName === clientSigner) {
    return request.organizations.includes('system:masters')
      ? 'no certificate is signed for system:masters'
      : undefined
  }
  const isNode =
    request.commonName.startsWith('system:node:') && request.organizations.join() === 'system:nodes'
  return isNode ? undefined : 'the subject is not that of a node'
}

async function sign(
  csr: CertificateSigningRequest,
  request: SigningRequest,
  { options, context }: { options: CsrSigningOptions; context: ControllerContext },
): Promise<string> {
  const isServing = csr.spec?.signerName === nodeServingSigner
  const asked = csr.spec?.expirationSeconds ?? options.durationSecondsMax
  const seconds = Math.min(asked, options.durationSecondsMax)
  const nowMs = context.clock.now()
  const usages = csr.spec?.usages ?? []
  const pem = await signCertificate(
    isServing ? options.servingAuthority : options.clientAuthority,
    {
      subject: { commonName: request.commonName, organizations: request.organizations },
      publicKeyPem: request.publicKeyPem,
      notBeforeMs: nowMs - backdateMs,
      notAfterMs: nowMs + seconds * 1_000,
      keyUsages: usages.flatMap((usage) => keyUsageOf[usage] ?? []),
      extendedUsages: usages.flatMap((usage) => extendedUsageOf[usage] ?? []),
      dnsNames: request.dnsNames,
      ipAddresses: request.ipAddresses,
    },
  )
  context.log.info('Certificate signed', {
    request: csr.metadata.name,
    subject: request.commonName,
  })
  return Buffer.from(pem).toString('base64')
}

function failed(
  csr: CertificateSigningRequest,
  message: string,
  context: ControllerContext,
): CertificateSigningRequest['status'] {
  const nowText = timestamp(context.clock.now())
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: nowText,
    lastTransitionTime: nowText,
  }
  return { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] }
}
