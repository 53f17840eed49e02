import { generateKeyPair, signCertificate, type Authority, type Subject } from '@skerry/pki'
import { periodFrom, type IssuerTime } from './certificate-lifetimes.ts'
import { certificateLifetimes } from './limits-table.ts'

/** A certificate and its key, both PEM. */
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

/** Issues a certificate for a server that clients find under these names and addresses. */
export async function issueServingCertificate(
  authority: Authority,
  options: ServingCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const { commonName, dnsNames, ipAddresses, lifetimeMs } = options
  return issue(
    authority,
    { subject: { commonName }, usages: ['serverAuth'], dnsNames, ipAddresses, lifetimeMs },
    time,
  )
}

export interface ClientCertificateOptions {
  readonly subject: Subject
  readonly lifetimeMs?: number
}

/**
 * Issues a certificate for a client, whose user is the common name and whose groups are the
 * organizations.
 */
export async function issueClientCertificate(
  authority: Authority,
  { subject, lifetimeMs }: ClientCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  return issue(authority, { subject, usages: ['clientAuth'], lifetimeMs }, time)
}

/** Issues a certificate for a program that is both to its peers: a server that they dial, and a client that dials. */
export async function issuePeerCertificate(
  authority: Authority,
  { commonName, lifetimeMs, ...names }: ServingCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const usages = ['serverAuth', 'clientAuth'] as const
  return issue(authority, { subject: { commonName }, usages, lifetimeMs, ...names }, time)
}

interface IssueOptions {
  readonly subject: Subject
  readonly usages: readonly ('clientAuth' | 'serverAuth')[]
  readonly lifetimeMs: number | undefined
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
}

async function issue(
  authority: Authority,
  { usages, lifetimeMs = certificateLifetimes.leafMs, ...profile }: IssueOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    ...profile,
    publicKeyPem,
    ...periodFrom(time, lifetimeMs),
    keyUsages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: usages,
  })
  return { certificatePem, privateKeyPem }
}
