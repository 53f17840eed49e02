import { join } from 'node:path'
import type { Clock } from '@skerry/base'
import {
  createAuthority,
  generateKeyPair,
  isIssuedBy,
  publicKeyOf,
  readCertificate,
  type Authority,
  type Certificate,
  type Subject,
} from '@skerry/pki'
import { certificateLifetimes, renewAtMs } from './certificate-lifetimes.ts'
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
  /** What the API server shows its clients. */
  readonly serving: CertificateAndKey
  /** Who the API server is to kubelets. */
  readonly kubeletClient: CertificateAndKey
  /** Member of system:masters. */
  readonly admin: CertificateAndKey
  /** Signs front proxies' certificates: those that may tell for whom they ask. */
  readonly frontProxyAuthority: Authority
  /** Who the API server is to the API servers behind it. */
  readonly frontProxyClient: CertificateAndKey
  /** Signs and verifies service account tokens; PEM. */
  readonly serviceAccountKeyPem: string
  readonly serviceAccountPublicKeyPem: string
}

export interface ClusterPkiOptions {
  readonly directory: string
  /** Common name of a new authority; e.g. the cluster's name. */
  readonly authorityName: string
  /** Names and addresses that clients use for the API server. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
}

/**
 * Reads the directory and makes what is missing. Leaves what is there, except certificates that
 * are past most of their life, of another authority, or without a name that is asked now: those are
 * issued anew.
 */
export async function ensureClusterPki(
  options: ClusterPkiOptions,
  clock: Clock,
): Promise<ClusterPki> {
  const { directory, dnsNames, ipAddresses } = options
  const authority = await ensureAuthority(
    { ...pathsOf(directory, 'ca'), commonName: options.authorityName },
    clock,
  )
  const scope: Scope = { directory, authority, clock }
  // Never the same as the clients' authority: any of its certificates could be anybody.
  const frontProxyAuthority = await ensureAuthority(
    { ...pathsOf(directory, 'front-proxy-ca'), commonName: 'front-proxy-ca' },
    clock,
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
          clock,
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

/** The authority at those paths, made if neither file is there. */
export async function ensureAuthority(options: AuthorityOptions, clock: Clock): Promise<Authority> {
  const found = await readCertificateAndKey(options)
  if (found) return found
  const nowMs = clock.now()
  const authority = await createAuthority({
    subject: { commonName: options.commonName },
    notBeforeMs: nowMs - certificateLifetimes.skewMs,
    notAfterMs: nowMs + certificateLifetimes.authorityMs,
  })
  await writeCertificateAndKey(options, authority)
  return authority
}

interface Scope {
  readonly directory: string
  readonly authority: Authority
  readonly clock: Clock
}

function ensureClient(scope: Scope, name: string, subject: Subject): Promise<CertificateAndKey> {
  return ensureLeaf(scope, name, {
    isGood: (found) => found.commonName === subject.commonName,
    issue: () => issueClientCertificate(scope.authority, { subject }, scope.clock),
  })
}

interface Leaf {
  readonly isGood: (found: Certificate) => boolean
  readonly issue: () => Promise<CertificateAndKey>
}

async function ensureLeaf(
  { directory, authority, clock }: Scope,
  name: string,
  leaf: Leaf,
): Promise<CertificateAndKey> {
  const paths = pathsOf(directory, name)
  const found = await readCertificateAndKey(paths)
  if (found) {
    const certificate = readCertificate(found.certificatePem)
    const isFresh = clock.now() < renewAtMs(certificate, 0)
    const isOurs = isIssuedBy(found.certificatePem, authority.certificatePem)
    if (isFresh && isOurs && leaf.isGood(certificate)) return found
  }
  const issued = await leaf.issue()
  await writeCertificateAndKey(paths, issued)
  return issued
}

function isServing(
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

/** One spelling per address: IPv6 has many. */
function canonicalAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname : address
}

async function ensureServiceAccountKey(directory: string): Promise<string> {
  const keyPath = join(directory, 'sa.key')
  const found = await readFileIfPresent(keyPath)
  if (found !== undefined) return found
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  await writeFileDurably(keyPath, privateKeyPem, secretMode)
  await writeFileDurably(join(directory, 'sa.pub'), publicKeyPem, publicMode)
  return privateKeyPem
}

function pathsOf(directory: string, name: string): KeyPairPaths {
  return {
    certificatePath: join(directory, `${name}.crt`),
    keyPath: join(directory, `${name}.key`),
  }
}
