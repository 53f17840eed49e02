import { openAuditLog } from '@skerry/apiserver'
import {
  createBrokenTunnelAudit,
  createClusterAudit,
  type ClusterAudit,
  type OnBrokenTunnel,
} from '@skerry/gateway'
import type { RoleContext } from '../../runtime/role-context.ts'

/** The audit log of a hub: a line for each write here and for each request to a cluster. */
export interface HubAudit extends ClusterAudit, AsyncDisposable {
  /** The newest of its files. */
  readonly path: string
  /** Writes a line about a tunnel whose agent broke a rule. */
  readonly onBroken: OnBrokenTunnel
}

export async function openHubAudit(
  path: string,
  { onLost }: { readonly onLost: (lines: number) => void },
  { clock, log }: RoleContext,
): Promise<HubAudit> {
  const auditLog = await openAuditLog(path, { onLost }, { log, clock })
  const write = (line: string): void => auditLog.write(line)
  return {
    path,
    ...createClusterAudit({ write, monotonicMs: () => clock.monotonicMs() }),
    onBroken: createBrokenTunnelAudit({ write, clock }),
    [Symbol.asyncDispose]: () => auditLog[Symbol.asyncDispose](),
  }
}
