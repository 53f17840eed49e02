import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '@skerry/base'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { exists } from '../../runtime/files.ts'
import { etcdFiles } from '../../site/etcd/embedded-options.ts'
import { leaveEtcd } from '../../site/etcd/leave-etcd.ts'
import type { LoneDeps } from '../../site/etcd/lone-member.ts'
import { hasMemberData, readMemberRecord } from '../../site/etcd/member-record.ts'

/**
 * Returns where the state of a unit's stopped site is, after a move to a file that was cut off: it is finished if etcd's data have
 * gone, and done again otherwise.
 */
export async function placeOfState(site: string): Promise<'etcd' | 'file'> {
  const files = etcdFiles(site)
  const record = await readMemberRecord(files.record)
  if (record === undefined) return 'file'
  if (record.stage !== 'member') return 'etcd'
  if (await hasMemberData(files)) {
    await removeMatching(site, storeFiles)
    return 'etcd'
  }
  if (!(await exists(join(site, 'store.db')))) return 'etcd'
  await forgetEtcd(site)
  return 'file'
}

/** Returns whether the member on this machine has had a vote. */
export async function isVoter(site: string): Promise<boolean> {
  return (await readMemberRecord(etcdFiles(site).record))?.stage === 'member'
}

/** Returns the members as they were seen last; none if the state is in a file. */
export async function membersOf(site: string): Promise<string[]> {
  const record = await readMemberRecord(etcdFiles(site).record)
  if (record === undefined) return []
  return [record.name, ...record.others.map(({ name }) => name)]
}

/** The file from which the state was moved, and that of a move back that was cut off. A store that was replaced stays. */
const storeFiles = /^store\.db(-|$|\.snapshot|\.moved-to-etcd)/

/** Moves the state of the only member, whose site has served and is stopped, into a file. May be cut off, and is done again then. */
export async function moveToFile(
  { site, etcdProgram }: { readonly site: string; readonly etcdProgram: string },
  deps: LoneDeps,
): Promise<void> {
  await removeMatching(site, storeFiles)
  const { keptAt } = await leaveEtcd({ dataDir: site, etcdProgram }, deps)
  await rm(keptAt, { recursive: true, force: true })
  await forgetEtcd(site)
}

/** Puts the state in etcd aside, which nobody takes any more. */
export async function abandonEtcd(site: string): Promise<void> {
  const { root } = etcdFiles(site)
  if (!(await exists(root))) return
  await putAside(root)
  await rm(replicaKeyPath(site), { force: true })
}

/** Keeps one older state of a directory or file under another name. */
export async function putAside(path: string): Promise<void> {
  const kept = `${path}.before`
  if (!(await exists(path))) return
  await rm(kept, { recursive: true, force: true })
  await rename(path, kept)
  await syncDirectory(join(path, '..'))
}

async function forgetEtcd(site: string): Promise<void> {
  const { root, record } = etcdFiles(site)
  await rm(replicaKeyPath(site), { force: true })
  await removeMatching(root, /^data-left-/)
  await rm(record, { force: true })
}

async function removeMatching(directory: string, pattern: RegExp): Promise<void> {
  for (const name of await readdir(directory)) {
    if (pattern.test(name)) await rm(join(directory, name), { recursive: true, force: true })
  }
}
