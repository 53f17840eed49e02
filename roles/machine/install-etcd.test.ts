import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { OpenedPackage, PackagedEtcd } from '@skerry/offline-package'
import { installEtcd } from './install-etcd.ts'

const execute = promisify(execFile)
const { signal } = new AbortController()

/** A directory with the files of packages, in which Debian packages with small programs are made. */
class Shelf implements AsyncDisposable {
  readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
  }

  static async open(): Promise<Shelf> {
    const shelf = new Shelf(await mkdtemp(join(tmpdir(), 'skerry-install-etcd-')))
    await mkdir(join(shelf.directory, 'blobs'))
    return shelf
  }

  get opened(): OpenedPackage {
    const { directory } = this
    const places = { manifest: '', signature: '', blobs: join(directory, 'blobs') }
    // Nothing of a package but the places of its files counts here.
    return { places } as OpenedPackage
  }

  async etcd(version: string): Promise<PackagedEtcd> {
    const server = await this.#deb('etcd-server', version, ['etcd'])
    const client = await this.#deb('etcd-client', version, ['etcdctl', 'etcdutl'])
    return { architecture: 'x86_64', debs: [client, server] }
  }

  async #deb(name: string, version: string, programs: readonly string[]) {
    const root = join(this.directory, 'root')
    for (const each of ['DEBIAN', 'usr/bin']) await mkdir(join(root, each), { recursive: true })
    const control = `Package: ${name}\nVersion: ${version}\nArchitecture: amd64\nMaintainer: a\nDescription: b\n`
    await writeFile(join(root, 'DEBIAN/control'), control)
    for (const each of programs) await writeFile(join(root, 'usr/bin', each), `${each} ${version}`)
    const made = join(this.directory, 'made.deb')
    await execute('dpkg-deb', ['--root-owner-group', '--build', root, made])
    await rm(root, { recursive: true })
    const content = await readFile(made)
    const sha256 = createHash('sha256').update(content).digest('hex')
    await rename(made, join(this.directory, 'blobs', sha256))
    const file = { sha256, bytes: content.length }
    return { name, version, architecture: 'amd64' as const, file }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.directory, { recursive: true, force: true })
  }
}

test('an etcd of a package is unpacked below its version, twice as well as once, and the one before stays', async () => {
  await using shelf = await Shelf.open()
  const directory = join(shelf.directory, 'etcd')
  const given = { directory, signal }
  const all = ['3.5.13-1', '3.5.16-4', '3.6.1-2~deb13u1']
  for (const version of all) {
    const etcd = await shelf.etcd(version)
    const number = version.split('-')[0]
    for (const _ of [1, 2]) assert.equal(await installEtcd(etcd, shelf.opened, given), number)
    assert.equal(await readFile(join(directory, `${number}/etcd`), 'utf8'), `etcd ${version}`)
  }
  assert.deepEqual((await readdir(directory)).toSorted(), ['3.5.16', '3.6.1'])
  assert.deepEqual((await readdir(join(directory, '3.6.1'))).toSorted(), [
    'etcd',
    'etcdctl',
    'etcdutl',
  ])
})

test('files that no installation has made stay where they are', async () => {
  await using shelf = await Shelf.open()
  const directory = join(shelf.directory, 'etcd')
  await mkdir(join(directory, '.unpacking-a1b2c3'), { recursive: true })
  await writeFile(join(directory, 'etcd.db'), 'the state of somebody')
  await installEtcd(await shelf.etcd('3.5.16-4'), shelf.opened, { directory, signal })
  assert.deepEqual((await readdir(directory)).toSorted(), ['3.5.16', 'etcd.db'])
})

test('a package whose etcd has no server is refused', async () => {
  await using shelf = await Shelf.open()
  const { architecture, debs } = await shelf.etcd('3.5.16-4')
  const etcd = { architecture, debs: debs.slice(0, 1) }
  const given = { directory: join(shelf.directory, 'etcd'), signal }
  await assert.rejects(installEtcd(etcd, shelf.opened, given), /its etcd has no etcd-server/)
})
