import type { Command } from 'commander'
import { join } from 'node:path'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example } from '../flags/option-values.ts'
import { withEtcdOptions } from '../flags/etcd-flags.ts'
import { commandBounds } from '../limits-table.ts'

const siteDirectory = join(dataDirectoryDefault, 'site')
const sitePrefix = '/skerry/site'

/** Adds the commands that move the state of a site, a hub or an etcd from one kind of store to another. */
export function addStoreCommands(program: Command): void {
  const store = program
    .command('store')
    .description('Move state between the embedded store, etcd, and snapshots of etcd')
  addExport(store)
  addImport(store)
}

interface StoreFlags {
  dataDir: string | undefined
  etcdDataDir: string | undefined
  etcdPrefix: string
}

interface ExportFlags extends StoreFlags {
  etcdServers: string[] | undefined
  etcdCafile: string | undefined
  etcdCertfile: string | undefined
  etcdKeyfile: string | undefined
}

function addExport(store: Command): void {
  const command = store
    .command('export <file>')
    .description('Write a store as a snapshot of etcd, with its revisions and history')
    .option(
      '--data-dir <path>',
      `data directory of a stopped site or hub (default: ${siteDirectory})`,
    )
    .option('--etcd-data-dir <path>', 'data directory of a stopped "skerry etcd"')
  withEtcdOptions(command, sitePrefix)
    .addHelpText(
      'after',
      example(
        'skerry store export /mnt/usb/site.snapshot',
        'skerry store export /mnt/usb/etcd.snapshot --etcd-servers https://10.0.0.5:2379 --etcd-cafile ca.crt',
      ),
    )
    .action(async (file: string, flags: ExportFlags) => {
      await requireOne(flags)
      const exporting = await import('../../roles/store/export-store.ts')
      const { etcdDataDir, etcdServers, etcdPrefix: prefix, dataDir = siteDirectory } = flags
      const { context, onProgress } = await moving('exported')
      const common = { file, onProgress }
      const result =
        etcdServers !== undefined
          ? await exporting.exportEtcd({ ...common, etcd: flags }, context)
          : etcdDataDir !== undefined
            ? await exporting.exportEtcdServer({ ...common, etcdDataDir }, context)
            : await exporting.exportSite({ ...common, dataDir, prefix }, context)
      console.log(`${file}: ${result.bytes} bytes, revision ${result.revision}`)
    })
}

interface ImportFlags extends ExportFlags {
  skipHashCheck: boolean | undefined
}

function addImport(store: Command): void {
  const command = store
    .command('import [file]')
    .description('Make a stopped store of a snapshot of etcd, with its revisions and history')
    .option(
      '--data-dir <path>',
      `data directory of a stopped site or hub (default: ${siteDirectory})`,
    )
    .option('--etcd-data-dir <path>', 'data directory for "skerry etcd"; it has no store yet')
    .option('--skip-hash-check', 'the file is a copy of member/snap/db, which has no checksum')
  withEtcdOptions(command, sitePrefix)
    .addHelpText(
      'after',
      example(
        'skerry store import /mnt/usb/site.snapshot',
        'skerry store import --etcd-servers https://10.0.0.5:2379 --etcd-cafile ca.crt',
        'skerry store import /mnt/usb/etcd.snapshot --etcd-data-dir /var/lib/skerry/etcd',
      ),
    )
    .action(async (file: string | undefined, flags: ImportFlags) => {
      const { dataDir, etcdDataDir, etcdServers } = flags
      await requireOne({ dataDir, etcdDataDir })
      await requireOneSource(file, flags)
      if (etcdServers !== undefined) return importFromEtcd(flags)
      if (file !== undefined) await importFile(file, flags)
    })
}

async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const { etcdDataDir, etcdPrefix: prefix, dataDir = siteDirectory } = flags
  const importing = await import('../../roles/store/import-store.ts')
  const { context, onProgress } = await moving('imported')
  const common = { file, onProgress, mayLackChecksum: flags.skipHashCheck === true }
  if (etcdDataDir !== undefined) {
    const made = await importing.importEtcdServer({ ...common, etcdDataDir }, context)
    console.log(`${etcdDataDir}: ${made.records} changes, revision ${made.revision}`)
    return
  }
  const made = await importing.importSite({ ...common, dataDir, prefix }, context)
  for (const line of importedLines(dataDir, made)) console.log(line)
}

/** Moves a site or hub from an etcd that runs. */
async function importFromEtcd(flags: ImportFlags): Promise<void> {
  const { dataDir = siteDirectory } = flags
  const { moveSiteToSqlite } = await import('../../roles/store/move-site.ts')
  const { etcdOptionsOf } = await import('../../roles/control-plane/etcd-options.ts')
  const { openDataDirectory } = await import('../../roles/runtime/data-directory.ts')
  const { context, onProgress } = await moving('imported')
  const etcd = await etcdOptionsOf(flags)
  if (etcd === undefined) throw new TypeError('Cannot import: no server is named')
  await openDataDirectory(dataDir)
  const made = await moveSiteToSqlite({ dataDir, etcd, onProgress }, context)
  for (const line of importedLines(dataDir, made)) console.log(line)
}

/** Throws ExpectedError unless there is a file or an etcd to import from. */
async function requireOneSource(file: string | undefined, flags: ImportFlags): Promise<void> {
  const { etcdServers, etcdDataDir } = flags
  const isOne = (file === undefined) !== (etcdServers === undefined)
  if (isOne && (etcdServers === undefined || etcdDataDir === undefined)) return
  const { ExpectedError, exitCodes } = await import('@skerry/base')
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
async function requireOne(flags: {
  dataDir: string | undefined
  etcdDataDir: string | undefined
  etcdServers?: readonly string[] | undefined
}): Promise<void> {
  const { dataDir, etcdDataDir, etcdServers } = flags
  if ([dataDir, etcdDataDir, etcdServers].filter((each) => each !== undefined).length <= 1) return
  const { ExpectedError, exitCodes } = await import('@skerry/base')
  const names = '--data-dir, --etcd-data-dir and --etcd-servers'
  throw new ExpectedError(`Cannot move: give one of ${names}`, exitCodes.usage)
}

/** Returns what every move needs; its progress goes to standard error. */
async function moving(verb: string) {
  const { createLogger, systemClock, systemRandom } = await import('@skerry/base')
  const { stopSignal } = await import('../../roles/runtime/role-context.ts')
  const log = createLogger({ level: 'error', destination: process.stderr })
  const signal = stopSignal()
  let shown = 0
  return {
    context: { clock: systemClock, random: systemRandom, log, signal },
    onProgress: (records: number) => {
      if (records < shown + commandBounds.storeCommands.progressRecords) return
      shown = records
      console.error(`${records} changes ${verb}`)
    },
  }
}
