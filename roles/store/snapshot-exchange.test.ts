import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, constants, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { exitCodes, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openEtcdServer } from '@skerry/etcd-server'
import { openEtcdStore, openSqliteStore, type Store } from '@skerry/store'
import { startTestEtcd, whyNoEtcd } from '@skerry/testing'
import { exportEtcd, exportEtcdServer, exportSite } from './export-store.ts'
import { importEtcdServer, importSite } from './import-store.ts'

const etcdctl = '/usr/bin/etcdctl'
const skip = (await whyNoEtcd()) || (await whyNoEtcdctl())
const { signal } = new AbortController()
const context = { clock: systemClock, log: silentLogger, random: systemRandom, signal }
const prefix = '/skerry/site'
const run = promisify(execFile)

async function whyNoEtcdctl(): Promise<string | false> {
  try {
    await access(etcdctl, constants.X_OK)
    return false
  } catch {
    return `needs ${etcdctl}: apt-get install etcd-client`
  }
}

async function ctl(...args: string[]): Promise<string> {
  const { stdout } = await run(etcdctl, args, { env: { ETCDCTL_API: '3' } })
  return stdout
}

async function inScratch(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'snapshot-exchange-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function fill(store: Store): Promise<void> {
  const { leaseId } = await store.grantLease(3_600)
  for (let index = 0; index < 50; index += 1) {
    const key = `/registry/configmaps/default/${index % 20}`
    const value = index % 9 === 8 ? undefined : Buffer.alloc(index * 50, index)
    await store.write({ key, ...(value ? { value, ...(index % 6 ? {} : { leaseId }) } : {}) })
  }
  await store.compact(20)
}

/** Everything that a client can list, at several revisions. */
async function contentOf(store: Store, to: number): Promise<unknown> {
  const lists: unknown[] = []
  for (let revision = 20; revision <= to; revision += 5) {
    const { entries } = await store.list({ prefix: '/registry/', revision })
    lists.push(
      entries.map(({ key, modRevision, createRevision, value }) => [
        key,
        modRevision,
        createRevision,
        Buffer.from(value).toString('base64'),
      ]),
    )
  }
  return { lists, compacted: await store.compactedRevision() }
}

function openSite(dataDir: string) {
  return openSqliteStore(join(dataDir, 'store.db'), {}, context)
}

function openOn(endpoint: string) {
  return openEtcdStore({ endpoints: [endpoint], prefix }, context, signal)
}

async function restored(file: string, directory: string): Promise<string> {
  const dataDir = join(directory, 'restored')
  const peer = 'http://127.0.0.1:0'
  const flags = {
    'data-dir': dataDir,
    name: 'default',
    'initial-cluster': `default=${peer}`,
    'initial-advertise-peer-urls': peer,
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  await ctl('snapshot', 'restore', file, ...args)
  return dataDir
}

test('etcdctl restores an exported site, and etcd serves the same history', { skip }, () =>
  inScratch(async (directory) => {
    const file = join(directory, 'site.snapshot')
    let before: unknown
    let newest: number
    {
      await using store = await openSite(directory)
      await fill(store)
      newest = await store.revision()
      before = await contentOf(store, newest)
      await assert.rejects(exportSite({ dataDir: directory, prefix, file }, context), {
        exitCode: exitCodes.alreadyRunning,
      })
    }
    const result = await exportSite({ dataDir: directory, prefix, file }, context)
    assert.equal(result.revision, newest)
    await assert.rejects(
      exportSite({ dataDir: directory, prefix, file }, context),
      /the file exists/,
    )
    assert.match(await ctl('snapshot', 'status', file), new RegExp(`, ${newest}, `))
    await using etcd = await startTestEtcd({ dataDir: await restored(file, directory) })
    await using store = await openOn(etcd.endpoint)
    assert.deepEqual(await contentOf(store, newest), before)
    assert.equal(await store.revision(), newest)
    await store.compact(newest)
  }),
)

test('a snapshot that etcdctl saves becomes a site, with the same history', { skip }, () =>
  inScratch(async (directory) => {
    const file = join(directory, 'etcd.snapshot')
    const dataDir = join(directory, 'site')
    await using etcd = await startTestEtcd()
    await using store = await openOn(etcd.endpoint)
    await fill(store)
    const newest = await store.revision()
    await ctl('snapshot', 'save', file, `--endpoints=${etcd.endpoint}`)
    await assert.rejects(
      importSite({ file, dataDir, prefix: '/other' }, context),
      /nothing in it is below \/other: it has keys such as \/skerry\/site\/registry/,
    )
    const made = await importSite({ file, dataDir, prefix }, context)
    assert.equal(made.revision, newest)
    assert.equal(made.replacedPath, undefined)
    {
      await using site = await openSite(dataDir)
      assert.deepEqual(await contentOf(site, newest), await contentOf(store, newest))
      await assert.rejects(importSite({ file, dataDir, prefix }, context), {
        exitCode: exitCodes.alreadyRunning,
      })
    }
    const again = await importSite({ file, dataDir, prefix }, context)
    assert.ok(again.replacedPath?.endsWith('store.db.replaced-1'))
    const own = join(directory, 'own.snapshot')
    const saved = await exportEtcd({ file: own, etcd: { etcdServers: [etcd.endpoint] } }, context)
    assert.equal(saved.revision, newest)
    assert.match(await ctl('snapshot', 'status', own), new RegExp(`, ${newest}, `))
  }),
)

test('skerry etcd and etcd read the snapshots of each other', { skip }, () =>
  inScratch(async (directory) => {
    const file = join(directory, 'skerry.snapshot')
    const etcdDataDir = join(directory, 'skerry-etcd')
    await mkdir(etcdDataDir)
    const path = join(directory, 'etcd.db')
    {
      await using server = await openEtcdServer({ path, name: 'a', clientUrls: [] }, context)
      const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
      await using store = await openOn(`http://127.0.0.1:${port}`)
      await fill(store)
      await ctl('snapshot', 'save', file, `--endpoints=127.0.0.1:${port}`)
      const newest = await store.revision()
      await using etcd = await startTestEtcd({ dataDir: await restored(file, directory) })
      await using other = await openOn(etcd.endpoint)
      assert.deepEqual(await contentOf(other, newest), await contentOf(store, newest))
      await other.write({ key: '/registry/new', value: Buffer.from('1') })
      await ctl('snapshot', 'save', `${file}-back`, `--endpoints=${etcd.endpoint}`)
    }
    const made = await importEtcdServer({ file: `${file}-back`, etcdDataDir }, context)
    const again = join(directory, 'again.snapshot')
    const saved = await exportEtcdServer({ etcdDataDir, file: again }, context)
    assert.equal(saved.revision, made.revision)
    assert.match(await ctl('snapshot', 'status', again), new RegExp(`, ${made.revision}, `))
    const names = await readdir(etcdDataDir)
    assert.deepEqual(names.toSorted(), ['etcd.db', 'etcd.db.reserve', 'format.json'])
  }),
)
