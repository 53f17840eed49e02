import { withTimeout, type Clock, type Logger, type Random } from '@skerry/base'
import type { EtcdEndpoints, EtcdMemberClient } from '@skerry/store'
import type { EtcdFiles } from './embedded-options.ts'
import type { EtcdProgram } from './etcd-program.ts'
import { superviseEtcd } from './etcd-process.ts'
import { MemberClients } from './member-clients.ts'
import { memberArguments } from './member-command.ts'
import type { MemberRecord } from './member-record.ts'
import { localUrl } from './watch-members.ts'
import { siteBounds } from '../limits-table.ts'

export interface LoneDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly signal: AbortSignal
}

export interface LonePlan {
  readonly files: EtcdFiles
  readonly record: MemberRecord
  readonly program: EtcdProgram
  /** True makes it the only member. */
  readonly isForced: boolean
}

const { serveMs, quotaBytes, heartbeatMs } = siteBounds.etcd.lone

/**
 * Runs the member of a site that is stopped for as long as `work` takes, on the loopback, where nobody else reaches it.
 * Rejects if it does not become the only member soon.
 */
export async function withLoneMember<Answer>(
  { files, record, program, isForced }: LonePlan,
  deps: LoneDeps,
  work: (memberId: string, etcd: EtcdEndpoints) => Promise<Answer>,
): Promise<Answer> {
  const { name, peerUrl, clientUrl } = record
  using clients = await MemberClients.open(files.pki, deps.clock)
  const args = memberArguments({
    name,
    peerUrl,
    clientUrl,
    files,
    version: program.version,
    bindAddress: '127.0.0.1',
    heartbeatMs,
    quotaBytes,
    initialCluster: `${name}=${peerUrl}`,
    isJoining: false,
    isAlone: isForced,
  })
  await using process = await superviseEtcd(program, files, () => args, deps)
  const url = localUrl(clientUrl)
  const message = `Cannot start etcd alone: it does not serve in ${serveMs} ms, or has other members`
  const limit = { clock: deps.clock, ms: serveMs, message }
  const served = withTimeout(limit, deps.signal, (scope) =>
    untilAlone(clients.at(url), deps.clock, scope),
  )
  const memberId = await Promise.race([served, process.failed])
  process.onServes()
  // etcd must run until the work is done.
  return await work(memberId, clients.endpoints(url))
}

/** Resolves with the id of the only member once it has elected itself. */
async function untilAlone(
  client: EtcdMemberClient,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    try {
      const [mine, ...others] = await client.members(signal)
      if (mine !== undefined && others.length === 0) return mine.id
    } catch {
      // It has not elected itself yet.
      signal.throwIfAborted()
    }
    await clock.sleep(siteBounds.etcd.watch.startLookMs, signal)
  }
}
