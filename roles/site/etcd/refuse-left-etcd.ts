import { ExpectedError, exitCodes } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { etcdFiles } from './embedded-options.ts'

/** Throws ExpectedError if the state of the site is in its own etcd, which is not to be started. */
export async function refuseLeftEtcd(dataDir: string, isElsewhere: boolean): Promise<void> {
  const { record, root } = etcdFiles(dataDir)
  if ((await readFileIfPresent(record)) === undefined) return
  const remedy = isElsewhere ? '' : '; or move it to a file with "skerry site leave-etcd"'
  throw new ExpectedError(
    `Cannot start: the state of this site is in ${root}; pass --etcd embedded${remedy}`,
    exitCodes.usage,
  )
}

/** Throws ExpectedError if the state of the site is in its own etcd, so that nobody would read a file. */
export async function refuseFileBesideEtcd(dataDir: string, doing: string): Promise<void> {
  const { backups } = etcdFiles(dataDir)
  const remedy = `"skerry site recover --snapshot" goes back to a snapshot such as those in ${backups}, and "skerry site leave-etcd" moves the state to a file`
  await refuseStateInEtcd(dataDir, doing, remedy)
}

/** Throws ExpectedError for a state in etcd, which is saved while it runs. */
export async function refuseExportBesideEtcd(dataDir: string): Promise<void> {
  const remedy = '"skerry backup" saves a snapshot of it while the site runs'
  await refuseStateInEtcd(dataDir, 'Cannot export', remedy)
}

async function refuseStateInEtcd(dataDir: string, doing: string, remedy: string): Promise<void> {
  const { record, root } = etcdFiles(dataDir)
  if ((await readFileIfPresent(record)) === undefined) return
  throw new ExpectedError(
    `${doing}: the state of this site is in ${root}, and not in a file; ${remedy}`,
    exitCodes.usage,
  )
}
