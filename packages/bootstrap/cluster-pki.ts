import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  createAuthority,
  generateKeyPair,
  isIssuedBy,
  isSigningKey,
  publicKeyOf,
  readCertificate,
  redateAuthority,
  type Authority,
  type Certificate,
  type Subject,
} from '@skerry/pki'
import { isFresh, isWithin, type IssuerTime, type ValidityPeriod } from './certificate-lifetimes.ts'
import { certificateLifetimes } from './limits-table.ts'
import {
  issueClientCertificate,
  issueServingCertificate,
  type CertificateAndKey,
} from './issue-certificate.ts'
import {
  readCertificateAndKey,
  writeCertificateAndKey,
  type KeyPairPaths,
} from './key-pair-files.ts'
import { publicMode, readFileIfPresent, secretMode, writeFileDurably } from './secure-file.ts'

/** The keys and certificates of one control plane, under kubeadm's file names. */
export interface ClusterPki {
  readonly authority: Authority
  /** The API server's serving certificate. */
  readonly serving: CertificateAndKey
  /** The API server's client certificate for kubelets. */
  readonly kubeletClient: CertificateAndKey
  /** The client certificate of a member of system:masters. */
  readonly admin: CertificateAndKey
  /** Signs the certificates of front proxies, which may name the users they ask for. */
  readonly frontProxyAuthority: Authority
  /** The API server's client certificate for extension API servers. */
  readonly frontProxyClient: CertificateAndKey
  /** The key that signs and verifies service account tokens; PEM. */
  readonly serviceAccountKeyPem: string
  readonly serviceAccountPublicKeyPem: string
}

export interface ClusterPkiOptions {
  readonly directory: string
  /** The common name of a new authority, e.g. the cluster's name. */
  readonly authorityName: string
  /** Names and addresses that clients use for the API server. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  /** If true, every certificate except the authorities' is issued again, however good or damaged it is. */
  readonly renewsAll?: boolean
}

/**
 * Reads the directory and creates what is missing. Existing files stay, except certificates that
 * are not valid yet, are past most of their life, outlive their authority, belong to another one,
 * or lack a requested name: those are issued again. An authority that is not valid yet gets an
 * earlier beginning.
 */
export async function ensureClusterPki(
  options: ClusterPkiOptions,
  time: IssuerTime,
): Promise<ClusterPki> {
  const { directory, dnsNames, ipAddresses } = options
  const authority = await ensureAuthority(
    { ...pathsOf(directory, 'ca'), commonName: options.authorityName, isIrreplaceable: true },
    time,
  )
  const scope: LeafScope = { directory, authority, time, renewsAll: options.renewsAll === true }
  // This must never be the clients' authority, whose certificates could then name any user.
  const frontProxyAuthority = await ensureAuthority(
    { ...pathsOf(directory, 'front-proxy-ca'), commonName: 'front-proxy-ca' },
    time,
  )
  const serviceAccountKeyPem = await ensureServiceAccountKey(directory)
  return {
    authority,
    serving: await ensureLeaf(scope, 'apiserver', {
      isGood: (found) => isServing(found, dnsNames, ipAddresses),
      issue: () =>
        issueServingCertificate(
          authority,
          { commonName: 'kube-apiserver', dnsNames, ipAddresses },
          time,
        ),
    }),
    kubeletClient: await ensureClient(scope, 'apiserver-kubelet-client', {
      commonName: 'kube-apiserver-kubelet-client',
    }),
    admin: await ensureClient(scope, 'admin', {
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
    }),
    frontProxyAuthority,
    frontProxyClient: await ensureClient(
      { ...scope, authority: frontProxyAuthority },
      'front-proxy-client',
      { commonName: 'front-proxy-client' },
    ),
    serviceAccountKeyPem,
    serviceAccountPublicKeyPem: publicKeyOf(serviceAccountKeyPem),
  }
}

export interface AuthorityOptions extends KeyPairPaths {
  readonly commonName: string
}

/** Returns the authority at those paths. Creates it if neither file exists. */
export async function ensureAuthority(
  options: AuthorityOptions,
  time: IssuerTime,
): Promise<Authority> {
  const found = await readCertificateAndKey(options)
  if (found) return begun(options, signing(options, found), time)
  const { authorityNotBeforeMs, authorityMs, versionMs } = certificateLifetimes
  const nowMs = time.now()
  const authority = await createAuthority({
    subject: { commonName: options.commonName },
    notBeforeMs: authorityNotBeforeMs,
    notAfterMs: Math.max(nowMs, time.reckonedMs?.() ?? nowMs, versionMs) + authorityMs,
  })
  await writeCertificateAndKey(options, authority)
  return authority
}

/** Throws ExpectedError for an authority whose key type we do not sign with. */
function signing({ keyPath }: KeyPairPaths, authority: CertificateAndKey): CertificateAndKey {
  if (isSigningKey(authority.privateKeyPem)) return authority
  throw new ExpectedError(
    `Cannot use key ${keyPath}: it is not ${usedKeys}; restore it and its certificate from a backup`,
    exitCodes.dataDirectory,
  )
}

const usedKeys = 'an RSA key of at least 2048 bits or an EC key of P-256, P-384 or P-521'

/** Redates an authority that an older version created while the clock was ahead. */
async function begun(
  paths: KeyPairPaths,
  authority: CertificateAndKey,
  time: IssuerTime,
): Promise<Authority> {
  const { notBeforeMs, notAfterMs } = readCertificate(authority.certificatePem)
  if (notBeforeMs <= time.now()) return authority
  const earlier = await redateAuthority(authority, {
    notBeforeMs: certificateLifetimes.authorityNotBeforeMs,
    notAfterMs,
  })
  await writeCertificateAndKey(paths, earlier)
  return earlier
}

/** Returns a warning about an authority's end, or undefined if that is far off. */
export function authorityFault(certificatePem: string, nowMs: number): string | undefined {
  const { commonName, notAfterMs } = readCertificate(certificatePem)
  if (notAfterMs - nowMs > certificateLifetimes.authorityLeftMs) return undefined
  const verb = notAfterMs > nowMs ? 'ends' : 'has ended'
  return `authority "${commonName}" ${verb} at ${new Date(notAfterMs).toISOString()}; set the clock if it is wrong, else see "A certificate authority expires" in docs/operating.md`
}

/** The directory of leaves, and their issuer. */
export interface LeafScope {
  readonly directory: string
  readonly authority: Authority
  readonly time: IssuerTime
  readonly renewsAll: boolean
}

function ensureClient(
  scope: LeafScope,
  name: string,
  subject: Subject,
): Promise<CertificateAndKey> {
  return ensureLeaf(scope, name, {
    isGood: (found) => found.commonName === subject.commonName,
    issue: () => issueClientCertificate(scope.authority, { subject }, scope.time),
  })
}

export interface Leaf {
  readonly isGood: (found: Certificate) => boolean
  readonly issue: () => Promise<CertificateAndKey>
  /** True if it is valid whenever its authority is, and never renewed for its age. */
  readonly isLasting?: boolean
}

/** Returns the certificate of that name, issued again unless it is good and will be for a while. */
export async function ensureLeaf(
  { directory, authority, time, renewsAll }: LeafScope,
  name: string,
  leaf: Leaf,
): Promise<CertificateAndKey> {
  const paths = pathsOf(directory, name)
  const found = renewsAll ? undefined : await readCertificateAndKey(paths)
  const issuer = readCertificate(authority.certificatePem)
  if (found) {
    const certificate = readCertificate(found.certificatePem)
    const isOurs = isIssuedBy(found.certificatePem, authority.certificatePem)
    const isGood = isOurs && leaf.isGood(certificate) && certificate.notAfterMs <= issuer.notAfterMs
    // If the authority itself has expired by the clock, another certificate would not be better.
    const isInTime =
      leaf.isLasting === true ? lastsLike(certificate, issuer) : isFresh(certificate, time.now())
    if (isGood && (isInTime || !isWithin(issuer, time.now()))) return found
  }
  const issued = await issueBy(leaf, { name, issuer })
  await writeCertificateAndKey(paths, issued)
  return issued
}

/** Returns true if the first period is not shorter than the second one. */
function lastsLike(leaf: ValidityPeriod, { notBeforeMs, notAfterMs }: ValidityPeriod): boolean {
  return leaf.notBeforeMs <= notBeforeMs && leaf.notAfterMs >= notAfterMs
}

async function issueBy(
  leaf: Leaf,
  { name, issuer }: { name: string; issuer: Certificate },
): Promise<CertificateAndKey> {
  try {
    return await leaf.issue()
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new ExpectedError(
      `Cannot issue certificate ${name}: its authority "${issuer.commonName}" ended at ${new Date(issuer.notAfterMs).toISOString()}; set the clock if it is wrong, else see "A certificate authority expires" in docs/operating.md`,
      exitCodes.certificates,
      { cause },
    )
  }
}

/** Returns true if the certificate has all these names and addresses. */
export function isServing(
  found: Certificate,
  dnsNames: readonly string[],
  ipAddresses: readonly string[],
): boolean {
  const addresses = new Set(found.ipAddresses.map(canonicalAddress))
  return (
    dnsNames.every((name) => found.dnsNames.includes(name)) &&
    ipAddresses.every((address) => addresses.has(canonicalAddress(address)))
  )
}

/** Returns one spelling per address: IPv6 has many. */
function canonicalAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address
}

async function ensureServiceAccountKey(directory: string): Promise<string> {
  const keyPath = join(directory, 'sa.key')
  const found = await readFileIfPresent(keyPath)
  if (found !== undefined) return checkedKey(keyPath, found)
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  await writeFileDurably(keyPath, privateKeyPem, secretMode)
  await writeFileDurably(join(directory, 'sa.pub'), publicKeyPem, publicMode)
  return privateKeyPem
}

/** Throws ExpectedError for a file without a private key, or with one that cannot sign tokens. */
function checkedKey(path: string, privateKeyPem: string): string {
  const refusal = (fault: string, options?: ErrorOptions): ExpectedError =>
    new ExpectedError(
      `Cannot use key ${path}: ${fault}; restore it from a backup, or remove it to have another one made, which voids every service account token`,
      exitCodes.dataDirectory,
      options,
    )
  try {
    if (isSigningKey(privateKeyPem)) return privateKeyPem
  } catch (cause) {
    throw refusal('it is damaged', { cause })
  }
  throw refusal(`it is not ${usedKeys}`)
}

export function pathsOf(directory: string, name: string): KeyPairPaths {
  return {
    certificatePath: join(directory, `${name}.crt`),
    keyPath: join(directory, `${name}.key`),
  }
}
