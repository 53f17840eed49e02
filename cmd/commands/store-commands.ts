import type { Command } from 'commander'
import { join } from 'node:path'
import type { ExportFlags, ImportFlags } from '../../roles/client/move-store.ts'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { withEtcdOptions } from '../flags/control-plane-flags.ts'
import { example } from '../flags/option-values.ts'

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
      const { exportStore } = await import('../../roles/client/move-store.ts')
      await exportStore(file, flags)
    })
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
      const { importStore } = await import('../../roles/client/move-store.ts')
      await importStore(file, flags)
    })
}

/** Adds the commands that copy the store of a site or hub, and put a copy in its place. */
export function addBackupCommands(program: Command): void {
  program
    .command('backup <file>')
    .description('Write a consistent copy of a running store')
    .option('--data-dir <path>', 'data directory of the site or hub', siteDirectory)
    .addHelpText('after', example('skerry backup /mnt/usb/site.db'))
    .action(async (file: string, options: { dataDir: string }) => {
      const { resolve } = await import('node:path')
      const { requestBackup } = await import('../../roles/runtime/role-socket.ts')
      const result = await requestBackup(join(options.dataDir, 'backup.sock'), resolve(file))
      console.log(`${file}: ${result.bytes} bytes, revision ${result.revision}`)
    })
  program
    .command('restore <file>')
    .description('Replace a stopped store with a backup')
    .addHelpText('after', example('skerry restore /mnt/usb/site.db'))
    .option('--data-dir <path>', 'data directory of the site or hub', siteDirectory)
    .action(async (file: string, options: { dataDir: string }) => {
      const { refuseFileBesideEtcd } = await import('../../roles/site/etcd/refuse-left-etcd.ts')
      await refuseFileBesideEtcd(options.dataDir, 'Cannot restore')
      const { restoreSqliteStore } = await import('@skerry/store')
      const result = await restoreSqliteStore(file, join(options.dataDir, 'store.db'))
      const kept =
        result.replacedPath === undefined ? '' : `; the store before is ${result.replacedPath}`
      console.log(`Restored at revision ${result.revision}${kept}`)
      for (const key of result.damagedKeys) console.error(`Damaged in the backup: ${key}`)
    })
}
