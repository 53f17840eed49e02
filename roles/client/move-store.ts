import { join } from 'node:path'
import { createLogger, ExpectedError, exitCodes, systemClock, systemRandom } from '@skerry/base'
import { etcdOptionsOf } from '../control-plane/etcd-options.ts'
import { dataDirectoryDefault, openDataDirectory } from '../runtime/data-directory.ts'
import { stopSignal } from '../runtime/role-context.ts'
import { refuseExportBesideEtcd, refuseFileBesideEtcd } from '../site/etcd/refuse-left-etcd.ts'
import { clientBounds } from './limits-table.ts'

/** The stores that a command names. If none is named, the site of this machine. */
interface StoreFlags {
  dataDir: string | undefined
  etcdDataDir: string | undefined
  etcdPrefix: string
}

export interface ExportFlags extends StoreFlags {
  etcdServers: string[] | undefined
  etcdCafile: string | undefined
  etcdCertfile: string | undefined
  etcdKeyfile: string | undefined
}

export interface ImportFlags extends ExportFlags {
  skipHashCheck: boolean | undefined
}

const siteDirectory = join(dataDirectoryDefault, 'site')

/** Writes a store as a snapshot of etcd, and prints its revision. Throws ExpectedError. */
export async function exportStore(file: string, flags: ExportFlags): Promise<void> {
  requireOne(flags)
  const exporting = await import('../store/export-store.ts')
  const { etcdDataDir, etcdServers, etcdPrefix: prefix, dataDir = siteDirectory } = flags
  const isOfSite = etcdDataDir === undefined && etcdServers === undefined
  if (isOfSite) await refuseExportBesideEtcd(dataDir)
  const { context, onProgress } = moving('exported')
  const common = { file, onProgress }
  const result =
    etcdServers !== undefined
      ? await exporting.exportEtcd({ ...common, etcd: flags }, context)
      : etcdDataDir !== undefined
        ? await exporting.exportEtcdServer({ ...common, etcdDataDir }, context)
        : await exporting.exportSite({ ...common, dataDir, prefix }, context)
  console.log(`${file}: ${result.bytes} bytes, revision ${result.revision}`)
}

/** Makes a stopped store of a snapshot, or of an etcd that runs. Throws ExpectedError. */
export async function importStore(file: string | undefined, flags: ImportFlags): Promise<void> {
  const { dataDir, etcdDataDir, etcdServers } = flags
  requireOne({ dataDir, etcdDataDir })
  requireOneSource(file, flags)
  if (etcdServers !== undefined) return importFromEtcd(flags)
  if (file !== undefined) await importFile(file, flags)
}

async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const { etcdDataDir, etcdPrefix: prefix, dataDir = siteDirectory } = flags
  const importing = await import('../store/import-store.ts')
  const { context, onProgress } = moving('imported')
  const common = { file, onProgress, mayLackChecksum: flags.skipHashCheck === true }
  if (etcdDataDir !== undefined) {
    const made = await importing.importEtcdServer({ ...common, etcdDataDir }, context)
    console.log(`${etcdDataDir}: ${made.records} changes, revision ${made.revision}`)
    return
  }
  await refuseFileBesideEtcd(dataDir, 'Cannot import')
  const made = await importing.importSite({ ...common, dataDir, prefix }, context)
  for (const line of importedLines(dataDir, made)) console.log(line)
}

/** Moves a site or hub from an etcd that runs. */
async function importFromEtcd(flags: ImportFlags): Promise<void> {
  const { dataDir = siteDirectory } = flags
  const { moveSiteToSqlite } = await import('../store/move-site.ts')
  const { context, onProgress } = moving('imported')
  const etcd = await etcdOptionsOf(flags)
  if (etcd === undefined) throw new TypeError('Cannot import: no server is named')
  await refuseFileBesideEtcd(dataDir, 'Cannot import')
  await openDataDirectory(dataDir)
  const made = await moveSiteToSqlite({ dataDir, etcd, onProgress }, context)
  for (const line of importedLines(dataDir, made)) console.log(line)
}

/** Throws ExpectedError unless there is a file or an etcd to import from. */
function requireOneSource(file: string | undefined, flags: ImportFlags): void {
  const { etcdServers, etcdDataDir } = flags
  const isOne = (file === undefined) !== (etcdServers === undefined)
  if (isOne && (etcdServers === undefined || etcdDataDir === undefined)) return
  const text = 'give a file, or --etcd-servers, which goes with --data-dir alone'
  throw new ExpectedError(`Cannot import: ${text}`, exitCodes.usage)
}

function importedLines(
  dataDir: string,
  made: {
    revision: number
    renumbered: number
    isHistoryLost: boolean
    replacedPath?: string
  },
): string[] {
  const { revision, renumbered, isHistoryLost, replacedPath } = made
  return [
    `${dataDir}: revision ${revision}`,
    ...(renumbered > 0
      ? [`${renumbered} objects that shared a revision have new resourceVersions`]
      : []),
    ...(isHistoryLost ? ['No revision was free for them, so all clients list again'] : []),
    ...(replacedPath === undefined ? [] : [`The store before is ${replacedPath}`]),
  ]
}

/** Throws ExpectedError if several stores are named. */
function requireOne(flags: {
  dataDir: string | undefined
  etcdDataDir: string | undefined
  etcdServers?: readonly string[] | undefined
}): void {
  const { dataDir, etcdDataDir, etcdServers } = flags
  if ([dataDir, etcdDataDir, etcdServers].filter((each) => each !== undefined).length <= 1) return
  const names = '--data-dir, --etcd-data-dir and --etcd-servers'
  throw new ExpectedError(`Cannot move: give one of ${names}`, exitCodes.usage)
}

/** Returns what every move needs; its progress goes to standard error. */
function moving(verb: string) {
  const log = createLogger({ level: 'error', destination: process.stderr })
  const signal = stopSignal()
  let shown = 0
  return {
    context: { clock: systemClock, random: systemRandom, log, signal },
    onProgress: (records: number) => {
      if (records < shown + clientBounds.moveStore.progressRecords) return
      shown = records
      console.error(`${records} changes ${verb}`)
    },
  }
}
