import { generateKeyPair, signCertificate, type Authority, type Subject } from '@skerry/pki'
import { periodFrom, type IssuerTime, type ValidityPeriod } from './certificate-lifetimes.ts'
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
  /** Its validity, e.g. that of its authority. If omitted, from now on for its lifetime. */
  readonly period?: ValidityPeriod
}

/** Issues a certificate for a server that clients find under these names and addresses. */
export async function issueServingCertificate(
  authority: Authority,
  options: ServingCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const { commonName, ...rest } = options
  return issue(authority, { subject: { commonName }, usages: ['serverAuth'], ...rest }, time)
}

export interface ClientCertificateOptions {
  readonly subject: Subject
  readonly lifetimeMs?: number
  /** Its validity, e.g. that of its authority. If omitted, from now on for its lifetime. */
  readonly period?: ValidityPeriod
}

/**
 * Issues a certificate for a client, whose user is the common name and whose groups are the
 * organizations.
 */
export async function issueClientCertificate(
  authority: Authority,
  options: ClientCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  return issue(authority, { usages: ['clientAuth'], ...options }, time)
}

/** Issues a certificate for a program that is both to its peers: a server that they dial, and a client that dials. */
export async function issuePeerCertificate(
  authority: Authority,
  { commonName, ...rest }: ServingCertificateOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const usages = ['serverAuth', 'clientAuth'] as const
  return issue(authority, { subject: { commonName }, usages, ...rest }, time)
}

interface IssueOptions {
  readonly subject: Subject
  readonly usages: readonly ('clientAuth' | 'serverAuth')[]
  readonly lifetimeMs?: number
  readonly period?: ValidityPeriod
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
}

async function issue(
  authority: Authority,
  { usages, lifetimeMs = certificateLifetimes.leafMs, period, ...profile }: IssueOptions,
  time: IssuerTime,
): Promise<CertificateAndKey> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    ...profile,
    publicKeyPem,
    ...(period ?? periodFrom(time, lifetimeMs)),
    keyUsages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: usages,
  })
  return { certificatePem, privateKeyPem }
}
