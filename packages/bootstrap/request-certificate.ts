import type { CertificateSigningRequest } from '@skerry/api'
import {
  ExpectedError,
  createBackoff,
  exitCodes,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { createSigningRequest, generateKeyPair, type Subject } from '@skerry/pki'
import type { CertificateAndKey } from './issue-certificate.ts'
import { bootstrapBounds } from './limits-table.ts'

export interface CertificateRequestOptions {
  /** The start of the request's name, e.g. csr-. */
  readonly generateName: string
  readonly signerName: string
  readonly usages: readonly string[]
  readonly subject: Subject
  /** PEM. If omitted, a new key. */
  readonly privateKeyPem?: string
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
  readonly lifetimeSeconds?: number
  /** Annotations of the request object, for the approver. */
  readonly annotations?: Readonly<Record<string, string>>
  /** Called with the request each time it is found undecided. */
  readonly onPending?: (request: CertificateSigningRequest) => void
}

export interface RequestDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const waitDefaults = bootstrapBounds.requestCertificate

/**
 * Requests a certificate from the cluster, and waits as long as the approval takes. Throws
 * ExpectedError if the request is denied or fails.
 */
export async function requestCertificate(
  cluster: ClusterClient,
  options: CertificateRequestOptions,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  const { privateKeyPem } = options.privateKeyPem
    ? { privateKeyPem: options.privateKeyPem }
    : await generateKeyPair()
  const pem = createSigningRequest({ ...options, privateKeyPem })
  const requests = cluster.resource(resources.certificateSigningRequests)
  const created = await requests.create(toObject(options, pem), signal)
  const name = created.metadata.name ?? ''
  deps.log.info('Certificate requested', { name, signer: options.signerName })
  const backoff = createBackoff(waitDefaults, deps.random)
  for (;;) {
    const request = await requests.get({ name }, signal)
    const certificatePem = certificateOf(request)
    if (certificatePem !== undefined) return { certificatePem, privateKeyPem }
    options.onPending?.(request)
    await deps.clock.sleep(backoff.nextMs(), signal)
  }
}

function toObject(options: CertificateRequestOptions, pem: string): CertificateSigningRequest {
  const { generateName, signerName, usages, lifetimeSeconds, annotations } = options
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName, ...(annotations ? { annotations: { ...annotations } } : {}) },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: [...usages],
      ...(lifetimeSeconds === undefined ? {} : { expirationSeconds: lifetimeSeconds }),
    },
  }
}

/** Returns undefined while the request is undecided. */
function certificateOf({ metadata, status }: CertificateSigningRequest): string | undefined {
  const bad = (status?.conditions ?? []).find(({ type }) => type === 'Denied' || type === 'Failed')
  if (bad) {
    throw new ExpectedError(
      `Cannot get certificate: request ${metadata.name} is ${bad.type.toLowerCase()}: ${bad.message ?? bad.reason ?? ''}`,
      exitCodes.missingRight,
    )
  }
  return status?.certificate && Buffer.from(status.certificate, 'base64').toString('utf8')
}
