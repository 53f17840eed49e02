import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { seededRandom, silentLogger, systemClock } from '@skerry/base'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { openDataDirectory } from '../../runtime/data-directory.ts'
import { etcdFiles } from './embedded-options.ts'
import { writeMemberRecord, type OtherMember } from './member-record.ts'
import { ownMember } from './own-member.ts'
import { planRecovery, type RecoveryPlan } from './recover.ts'

class Machine implements AsyncDisposable {
  readonly dataDir: string

  private constructor(dataDir: string) {
    this.dataDir = dataDir
  }

  /** An empty directory. */
  static async open(): Promise<Machine> {
    return new Machine(await mkdtemp(join(tmpdir(), 'skerry-recover-')))
  }

  async write(path: string, text: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    return path
  }

  /** Puts the keys there, as a person does on a machine that has lost everything else. */
  async restoreKeys(): Promise<void> {
    await this.write(replicaKeyPath(this.dataDir), 'key')
  }

  /** Makes the directory that of a master with data, which knows these others. */
  async becomeMaster(...others: OtherMember[]): Promise<void> {
    await this.restoreKeys()
    await openDataDirectory(this.dataDir, ['pki'])
    const files = etcdFiles(this.dataDir)
    await mkdir(join(files.data, 'member'), { recursive: true })
    const urls = { peerUrl: 'https://10.0.0.1:2380', clientUrl: 'https://10.0.0.1:2379' }
    const at = { name: 'master-1', ...urls, prefix: '/skerry/site' }
    await writeMemberRecord(files.record, { ...at, stage: 'member', others })
  }

  async plan(snapshot?: string): Promise<RecoveryPlan> {
    const etcdProgram = await this.write(
      join(this.dataDir, 'pki', 'fake-etcd'),
      "#!/bin/sh\necho 'etcd Version: 3.5.16'\n",
    )
    await chmod(etcdProgram, 0o755)
    const { signal } = new AbortController()
    const deps = { clock: systemClock, random: seededRandom(1), log: silentLogger, signal }
    const advertiseAddress = '10.0.0.1'
    const given = { dataDir: this.dataDir, snapshot, etcdProgram, advertiseAddress }
    return planRecovery({ ...given, masterName: 'master-1' }, deps)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.dataDir, { recursive: true })
  }
}

test('a directory that is not there is not made', async () => {
  await using machine = await Machine.open()
  const dataDir = join(machine.dataDir, 'mistyped')
  const { signal } = new AbortController()
  const deps = { clock: systemClock, random: seededRandom(1), log: silentLogger, signal }
  const rest = {
    snapshot: undefined,
    etcdProgram: undefined,
    masterName: undefined,
    advertiseAddress: undefined,
  }
  await assert.rejects(planRecovery({ dataDir, ...rest }, deps), /there is no .*mistyped; pass/)
  await assert.rejects(stat(dataDir), { code: 'ENOENT' })
})

test('a site whose state is in a file is refused with the other command', async () => {
  await using machine = await Machine.open()
  await machine.write(join(machine.dataDir, 'store.db'), 'state')
  await assert.rejects(machine.plan(), /store\.db, and not in etcd; "skerry restore"/)
})

test('the keys must be there before a snapshot counts', async () => {
  await using machine = await Machine.open()
  const snapshot = await machine.write(join(machine.dataDir, 'pki', 'snapshot.db'), 'snapshot')
  await assert.rejects(machine.plan(snapshot), /replica\.key is missing/)
})

test('an empty machine with the keys of the others goes back to a snapshot, and is warned of them', async () => {
  await using machine = await Machine.open()
  await machine.restoreKeys()
  const snapshot = await machine.write(join(machine.dataDir, 'pki', 'snapshot.db'), 'snapshot')
  const { record, warnings } = await machine.plan(snapshot)
  assert.equal(record.peerUrl, 'https://10.0.0.1:2380')
  assert.ok(warnings.some((line) => line.includes('does not know the other masters')))
  assert.ok(!warnings.some((line) => line.includes('is kept in')))
  // Later starts know the directory.
  assert.ok((await readdir(machine.dataDir)).includes('format.json'))
})

test('nothing is recovered while a process has the member', async () => {
  await using machine = await Machine.open()
  await machine.becomeMaster()
  await using _own = await ownMember(etcdFiles(machine.dataDir), 'Cannot start')
  await assert.rejects(machine.plan(), new RegExp(`process ${process.pid} runs on`))
})

test('a master that is dead for all that can be seen is named in the warnings', async () => {
  await using machine = await Machine.open()
  const server = await listening()
  const clientUrl = urlOf(server)
  server.close()
  await once(server, 'close')
  await machine.becomeMaster({ name: 'master-2', clientUrl })
  const { warnings } = await machine.plan()
  assert.ok(warnings.some((line) => line.includes('The other masters (master-2)')))
  assert.ok(warnings.some((line) => line.includes('is kept in')))
})

test('a master that listens lives, though its certificate is not good here', async () => {
  await using machine = await Machine.open()
  const server = await listening()
  await machine.becomeMaster({ name: 'master-2', clientUrl: urlOf(server) })
  await assert.rejects(machine.plan(), /master-2 listens at .*; check the clocks of both/)
  server.close()
})

async function listening(): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function urlOf(server: Server): string {
  // A server on a port has an address with it.
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
