import type { CertificateSigningRequest } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  TerminalError,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { signCertificate, type SigningRequest } from '@skerry/pki'
import { timestamp } from '../status/timestamp.ts'
import { nodeServingSigner } from './approval-plan.ts'
import { readRequest } from './csr-approving-controller.ts'
import {
  faultOf,
  lifetimeOf,
  keyUsageOf,
  extendedUsageOf,
  usagesOfSigner,
  type CsrSigningOptions,
} from './signing-rules.ts'

/**
 * Signs approved requests of Kubernetes' own signers. A request that breaks a signer's rules gets
 * the condition Failed.
 */
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
      if (request === undefined)
        throw new TerminalError('Cannot sign: it is not a certificate request')
      const fault = faultOf(csr, request)
      const status =
        fault === undefined
          ? { ...csr.status, certificate: await sign(csr, request, { options, context }) }
          : failed(csr, fault, context)
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

async function sign(
  csr: CertificateSigningRequest,
  request: SigningRequest,
  { options, context }: { options: CsrSigningOptions; context: ControllerContext },
): Promise<string> {
  const isServing = csr.spec?.signerName === nodeServingSigner
  const { durationSecondsMax } = options
  const usages = csr.spec?.usages ?? []
  const subject = { commonName: request.commonName, organizations: request.organizations }
  const pem = await signCertificate(
    isServing ? options.servingAuthority : options.clientAuthority,
    {
      subject,
      serialPrefix: options.serialPrefixOf?.(subject),
      publicKeyPem: request.publicKeyPem,
      ...lifetimeOf(csr, {
        durationSecondsMax,
        nowMs: context.clock.now(),
        reckonedMs: options.reckonedMs?.(),
      }),
      keyUsages: usages.flatMap((usage) => keyUsageOf[usage] ?? []),
      extendedUsages: usages.flatMap((usage) => extendedUsageOf[usage] ?? []),
      dnsNames: request.dnsNames,
      ipAddresses: request.ipAddresses,
      emails: request.emails,
      uris: request.uris,
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
