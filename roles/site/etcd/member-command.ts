import { etcdPkiPaths } from '@skerry/bootstrap'
import { portOf, type EtcdFiles } from './embedded-options.ts'
import { isAtLeast } from './etcd-version.ts'
import { siteBounds } from '../limits-table.ts'

/** One start of a member. */
export interface MemberPlan {
  readonly name: string
  readonly version: string
  readonly files: EtcdFiles
  /** The address at which the member listens, in addition to the loopback. */
  readonly bindAddress: string
  readonly peerUrl: string
  readonly clientUrl: string
  readonly heartbeatMs: number
  readonly quotaBytes: number
  /** `name=peerUrl` of all members; etcd reads it only at its first start. */
  readonly initialCluster: string
  readonly isJoining: boolean
  /** Makes this member the only one; see recover.ts. */
  readonly isAlone?: boolean
}

const { member: bounds } = siteBounds.etcd

/** The arguments of etcd. None is a secret: keys are in files. */
export function memberArguments(plan: MemberPlan): string[] {
  const flags = { ...placeFlags(plan), ...securityFlags(plan), ...runningFlags(plan) }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return plan.isAlone === true ? [...args, '--force-new-cluster'] : args
}

function placeFlags(plan: MemberPlan): Record<string, string> {
  const { name, files, bindAddress, peerUrl, clientUrl, initialCluster, isJoining } = plan
  const listen = (url: string, addresses: readonly string[]): string => {
    const port = portOf(url)
    return [...new Set(addresses)].map((address) => `https://${address}:${port}`).join(',')
  }
  const isEverywhere = bindAddress === '0.0.0.0'
  return {
    name,
    'data-dir': files.data,
    'listen-client-urls': listen(
      clientUrl,
      isEverywhere ? ['0.0.0.0'] : ['127.0.0.1', bindAddress],
    ),
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': listen(peerUrl, [bindAddress]),
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': initialCluster,
    'initial-cluster-state': isJoining ? 'existing' : 'new',
  }
}

function securityFlags({ files, version }: MemberPlan): Record<string, string> {
  const [ca, server, peer] = (['ca', 'server', 'peer'] as const).map((name) =>
    etcdPkiPaths(files.pki, name),
  )
  // A peer behind address translation dials from another address than its certificate has; the authority decides.
  const skipped = 'peer-skip-client-san-verification'
  return {
    'client-cert-auth': 'true',
    'trusted-ca-file': ca?.certificatePath ?? '',
    'cert-file': server?.certificatePath ?? '',
    'key-file': server?.keyPath ?? '',
    'peer-client-cert-auth': 'true',
    'peer-trusted-ca-file': ca?.certificatePath ?? '',
    'peer-cert-file': peer?.certificatePath ?? '',
    'peer-key-file': peer?.keyPath ?? '',
    [isAtLeast(version, '3.6.0') ? skipped : `experimental-${skipped}`]: 'true',
  }
}

function runningFlags({ version, files, heartbeatMs, quotaBytes }: MemberPlan) {
  const rotation = { maxsize: bounds.logMebibytes, maxbackups: bounds.logFiles }
  return {
    'heartbeat-interval': String(heartbeatMs),
    'election-timeout': String(heartbeatMs * bounds.electionHeartbeats),
    'quota-backend-bytes': String(quotaBytes),
    'snapshot-count': String(bounds.snapshotCount),
    // A member whose file differs from those of the others must not serve.
    ...(isAtLeast(version, '3.6.0')
      ? { 'feature-gates': 'InitialCorruptCheck=true' }
      : { 'experimental-initial-corrupt-check': 'true' }),
    'enable-grpc-gateway': 'false',
    logger: 'zap',
    'log-level': 'warn',
    'log-outputs': files.log,
    'enable-log-rotation': 'true',
    'log-rotation-config-json': JSON.stringify(rotation),
  }
}
