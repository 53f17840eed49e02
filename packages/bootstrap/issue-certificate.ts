import type { Clock } from '@skerry/base'
import { generateKeyPair, signCertificate, type Authority, type Subject } from '@skerry/pki'
import { certificateLifetimes } from './certificate-lifetimes.ts'

/** A certificate and the key it is for, both PEM. */
export interface CertificateAndKey {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export interface ServingCertificateOptions {
  readonly commonName: string
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly lifetimeMs?: number
}

/** For a server that clients find under these names and addresses. */
export async function issueServingCertificate(
  authority: Authority,
  options: ServingCertificateOptions,
  clock: Clock,
): Promise<CertificateAndKey> {
  const { commonName, dnsNames, ipAddresses, lifetimeMs } = options
  return issue(
    authority,
    { subject: { commonName }, usage: 'serverAuth', dnsNames, ipAddresses, lifetimeMs },
    clock,
  )
}

export interface ClientCertificateOptions {
  readonly subject: Subject
  readonly lifetimeMs?: number
}

/** For a client, whose user is the common name and whose groups are the organizations. */
export async function issueClientCertificate(
  authority: Authority,
  { subject, lifetimeMs }: ClientCertificateOptions,
  clock: Clock,
): Promise<CertificateAndKey> {
  return issue(authority, { subject, usage: 'clientAuth', lifetimeMs }, clock)
}

interface IssueOptions {
  readonly subject: Subject
  readonly usage: 'clientAuth' | 'serverAuth'
  readonly lifetimeMs: number | undefined
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
}

async function issue(
  authority: Authority,
  { usage, lifetimeMs = certificateLifetimes.leafMs, ...profile }: IssueOptions,
  clock: Clock,
): Promise<CertificateAndKey> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const nowMs = clock.now()
  const certificatePem = await signCertificate(authority, {
    ...profile,
    publicKeyPem,
    notBeforeMs: nowMs - certificateLifetimes.skewMs,
    notAfterMs: nowMs + lifetimeMs,
    keyUsages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: [usage],
  })
  return { certificatePem, privateKeyPem }
}
