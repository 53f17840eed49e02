import type { RoleContext } from '../../runtime/role-context.ts'
import { codeOf } from '../../runtime/data-directory.ts'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { EtcdFiles } from './embedded-options.ts'
import type { EtcdProgram } from './etcd-program.ts'
import type { MemberRecord } from './member-record.ts'

interface Target {
  readonly site: { readonly dataDir: string; readonly prefix: string }
  readonly files: EtcdFiles
  readonly program: EtcdProgram
}

/**
 * Moves a site that was in a file into its own etcd, with all revisions, before that starts for the first time. Does
 * nothing if there is no such file. One that was interrupted is done again.
 */
export async function moveFromSqlite(
  { name, peerUrl }: MemberRecord,
  { site, files, program }: Target,
  context: RoleContext,
): Promise<void> {
  const { dataDir, prefix } = site
  if (!(await isThere(join(dataDir, 'store.db')))) return
  const { moveSiteToEtcd } = await import('../../store/move-site.ts')
  const member = { name, peerUrls: [peerUrl], clusterToken: `skerry ${name}` }
  const options = { dataDir, etcdDataDir: files.data, prefix, etcdPath: program.path, member }
  await moveSiteToEtcd(options, context)
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
