import { join } from 'node:path'
import { readCertificate } from '@skerry/pki'
import type { IssuerTime } from './certificate-lifetimes.ts'
import { ensureAuthority, ensureLeaf, isServing, pathsOf, type LeafScope } from './cluster-pki.ts'
import { issueClientCertificate, issuePeerCertificate } from './issue-certificate.ts'
import type { KeyPairPaths } from './key-pair-files.ts'

export interface EtcdPkiOptions {
  /** Holds ca, server, peer and client, each as .crt and .key. */
  readonly directory: string
  readonly memberName: string
  readonly ipAddresses: readonly string[]
}

/** Returns the paths of one of these certificates, for programs that read the files themselves. */
export function etcdPkiPaths(
  directory: string,
  name: 'ca' | 'server' | 'peer' | 'client',
): KeyPairPaths {
  return pathsOf(directory, name)
}

/**
 * Reads the directory and creates files that are missing, under kubeadm's names: an authority for this etcd alone, which members and clients
 * trust, and the certificates of one member. Those that lack an address are issued again; etcd reads the files at
 * each handshake.
 */
export async function ensureEtcdPki(options: EtcdPkiOptions, time: IssuerTime): Promise<void> {
  const { directory, memberName, ipAddresses } = options
  // A clients' authority of its own: a certificate of the cluster's would otherwise open its whole state.
  const authority = await ensureAuthority(
    { ...pathsOf(directory, 'ca'), commonName: 'etcd-ca', isIrreplaceable: true },
    time,
  )
  const scope: LeafScope = { directory, authority, time, renewsAll: false }
  // They last as long as their authority, whose key is on the same disk: renewing them would protect nothing. They begin
  // with it, too: machines without a battery must find each other again before any of them has the time.
  const { notBeforeMs, notAfterMs } = readCertificate(authority.certificatePem)
  const period = { notBeforeMs, notAfterMs }
  const profile = { commonName: memberName, dnsNames: [], ipAddresses, period }
  for (const name of ['server', 'peer']) {
    await ensureLeaf(scope, name, {
      isLasting: true,
      isGood: (found) => found.commonName === memberName && isServing(found, [], ipAddresses),
      issue: () => issuePeerCertificate(authority, profile, time),
    })
  }
  const subject = { commonName: 'kube-apiserver-etcd-client' }
  await ensureLeaf(scope, 'client', {
    isLasting: true,
    isGood: (found) => found.commonName === subject.commonName,
    issue: () => issueClientCertificate(authority, { subject, period }, time),
  })
}

/** The directory of these certificates in that of a control plane. */
export function etcdPkiDirectory(controlPlanePki: string): string {
  return join(controlPlanePki, 'etcd')
}
