import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes } from '@skerry/base'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { moveSiteToSqlite } from '../../store/move-site.ts'
import { etcdFiles } from './embedded-options.ts'
import { findEtcd } from './etcd-program.ts'
import { runningMember } from './etcd-process.ts'
import { withLoneMember, type LoneDeps } from './lone-member.ts'
import { readMemberRecord } from './member-record.ts'
import { ownMember } from './own-member.ts'

export interface LeaveOptions {
  readonly dataDir: string
  readonly etcdProgram: string | undefined
}

const doing = 'Cannot leave etcd'

/**
 * Moves the state of a site's last master from its own etcd back into a file, with all revisions. Resolves with the place
 * where etcd's data is kept. Throws ExpectedError; then everything is as it was, unless the file is there already.
 */
export async function leaveEtcd(
  { dataDir, etcdProgram }: LeaveOptions,
  deps: LoneDeps,
): Promise<{ revision: number; keptAt: string }> {
  const files = etcdFiles(dataDir)
  const record = await readMemberRecord(files.record)
  if (record === undefined) throw refusal(`${dataDir} is not that of a master with its own etcd`)
  if (record.others.length > 0) {
    const names = record.others.map(({ name }) => name).join(', ')
    throw refusal(
      `there are other masters; stop ${names}, and remove each with "skerry site remove-member" first`,
    )
  }
  await using _own = await ownMember(files, doing)
  const pid = await runningMember(files)
  if (pid !== undefined) throw refusal(`the site runs here, with etcd as process ${pid}; stop it`)
  if (!(await isThere(join(files.data, 'member')))) throw refusal(`${files.data} is gone`)
  const program = await findEtcd(etcdProgram, files.program, deps.log, deps.signal)
  const plan = { files, record, program, isForced: false }
  const { revision } = await withLoneMember(plan, deps, (_id, endpoints) =>
    moveSiteToSqlite({ dataDir, etcd: { ...endpoints, prefix: record.prefix } }, deps),
  )
  const stamp = new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  const keptAt = join(files.root, `data-left-${stamp}`)
  await rename(files.data, keptAt)
  // It says that other masters share the keys, and opens nothing but what is kept.
  await rename(replicaKeyPath(dataDir), join(keptAt, 'replica.key')).catch(() => undefined)
  await rm(files.record, { force: true })
  return { revision, keptAt }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function refusal(why: string): ExpectedError {
  return new ExpectedError(`${doing}: ${why}`, exitCodes.usage)
}
