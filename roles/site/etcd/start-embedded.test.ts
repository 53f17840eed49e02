import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, seededRandom, silentLogger, systemClock } from '@skerry/base'
import { etcdFiles, type EmbeddedEtcdOptions } from './embedded-options.ts'
import { readMemberRecord, writeMemberRecord, type MemberRecord } from './member-record.ts'
import { ownMember, refuseOwned } from './own-member.ts'
import { refuseExportBesideEtcd, refuseFileBesideEtcd, refuseLeftEtcd } from './refuse-left-etcd.ts'
import { startEmbedded } from './start-embedded.ts'

interface Scene extends AsyncDisposable {
  readonly dataDir: string
  /** Starts with a program that reports this version and then does what the script says. */
  start(script: string, options?: Partial<EmbeddedEtcdOptions>): Promise<unknown>
}

const record: MemberRecord = {
  name: 'master-1',
  peerUrl: 'https://10.0.0.1:2380',
  clientUrl: 'https://10.0.0.1:2379',
  prefix: '/skerry/site',
  stage: 'member',
  others: [],
}

async function scene(version = '3.5.16'): Promise<Scene> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-embedded-'))
  const program = join(dataDir, 'fake-etcd')
  const context = {
    clock: systemClock,
    random: seededRandom(1),
    log: silentLogger,
    metrics: createMetrics(),
    signal: new AbortController().signal,
  }
  return {
    dataDir,
    async start(script, options = {}) {
      const says = `[ "$1" = --version ] && { echo 'etcd Version: ${version}'; exit 0; }`
      await writeFile(program, `#!/bin/sh\n${says}\n${script}\n`)
      await chmod(program, 0o755)
      const embedded: EmbeddedEtcdOptions = {
        memberName: 'master-1',
        program,
        // The fake listens nowhere.
        ports: { client: 0, peer: 0 },
        heartbeatMs: 100,
        quotaBytes: 2 ** 31,
        backups: { everyMs: 3_600_000, keep: 1 },
        ...options,
      }
      const site = {
        dataDir,
        prefix: '/skerry/site',
        bindAddress: '0.0.0.0',
        advertiseAddress: '10.0.0.1',
        settings: {},
      }
      await using _etcd = await startEmbedded(embedded, site, context)
    },
    async [Symbol.asyncDispose]() {
      await rm(dataDir, { recursive: true })
    },
  }
}

test('an etcd that is too old is refused, with the version that is needed', async () => {
  await using old = await scene('3.4.23')
  await assert.rejects(old.start('exit 1'), /is etcd 3\.4\.23; name one of 3\.5\.13 or newer/)
})

test('an etcd that ends at its start ends the site with its last words', async () => {
  await using broken = await scene()
  const log = etcdFiles(broken.dataDir).log
  const fatal = '{"level":"fatal","msg":"discovery failed","error":"listen tcp: in use"}'
  const start = broken.start(`echo '${fatal}' >> ${log}; exit 1`)
  await assert.rejects(start, /it ended: discovery failed: listen tcp: in use/)
})

test('an etcd that only warns of the error for which it ends is quoted as well', async () => {
  await using removed = await scene()
  const log = etcdFiles(removed.dataDir).log
  const says = '{"level":"warn","msg":"server error","error":"the member has been removed"}'
  const start = removed.start(`echo '${says}' >> ${log}; exit 0`)
  await assert.rejects(start, /it ended: server error: the member has been removed/)
})

test('a member whose data is gone does not begin an empty cluster', async () => {
  await using wiped = await scene()
  const files = etcdFiles(wiped.dataDir)
  await mkdir(files.root)
  await writeMemberRecord(files.record, record)
  await assert.rejects(wiped.start('exit 1'), /data is gone; join .* --replaces master-1/)
})

test('a master does not join over the state of another site', async () => {
  await using other = await scene()
  await writeFile(join(other.dataDir, 'store.db'), 'state')
  const joining = {
    server: 'https://10.0.0.5:6443',
    caHash: 'sha256:0',
    readToken: async () => '',
  }
  await assert.rejects(other.start('exit 1', { joining }), /has the state of another site/)
  assert.equal(await readFile(join(other.dataDir, 'store.db'), 'utf8'), 'state')
})

test('a text that is not the token of a master is refused before anybody is asked', async () => {
  await using joiner = await scene()
  const readToken = async (): Promise<string> => 'abcdef.0123456789abcdef'
  const joining = { server: 'https://10.0.0.5:6443', caHash: 'sha256:0', readToken }
  await assert.rejects(joiner.start('exit 1', { joining }), /the token is not one of/)
})

test('a join that was killed after its vote goes on while the others wait for it', async () => {
  await using voter = await scene()
  const files = etcdFiles(voter.dataDir)
  await mkdir(join(files.data, 'member'), { recursive: true })
  const others = [{ name: 'master-0', clientUrl: 'https://127.0.0.1:1' }]
  await writeMemberRecord(files.record, { ...record, stage: 'joining', memberId: '7', others })
  const fatal = '{"level":"fatal","msg":"was started"}'
  const start = voter.start(`echo '${fatal}' >> ${files.log}; exit 1`)
  await assert.rejects(start, /it ended: was started/)
})

test('a damaged record is named, and not begun again', async () => {
  await using damaged = await scene()
  const files = etcdFiles(damaged.dataDir)
  await mkdir(files.root)
  await writeFile(files.record, '{"name":')
  await assert.rejects(readMemberRecord(files.record), /member\.json is damaged/)
})

test('a site whose state is in its own etcd does not start without it', async () => {
  await using left = await scene()
  await refuseLeftEtcd(left.dataDir, false)
  const files = etcdFiles(left.dataDir)
  await mkdir(files.root)
  await writeMemberRecord(files.record, record)
  await assert.rejects(refuseLeftEtcd(left.dataDir, false), /pass --etcd embedded; or move it/)
})

test('a backup of a file is not restored while an etcd has the state', async () => {
  await using left = await scene()
  await refuseFileBesideEtcd(left.dataDir, 'Cannot restore')
  const files = etcdFiles(left.dataDir)
  await mkdir(files.root)
  await writeMemberRecord(files.record, record)
  const refused = /^Cannot restore: .* "skerry site recover --snapshot" .* "skerry site leave-etcd"/
  await assert.rejects(refuseFileBesideEtcd(left.dataDir, 'Cannot restore'), { message: refused })
  await assert.rejects(refuseExportBesideEtcd(left.dataDir), /^.*Cannot export: .* "skerry backup"/)
})

test('a second start of a master is refused, and the etcd of the first one goes on', async () => {
  await using running = await scene()
  const files = etcdFiles(running.dataDir)
  await using _first = await ownMember(files, 'Cannot start etcd')
  const refused = new RegExp(`process ${process.pid} runs on ${files.root}; stop it first`)
  await assert.rejects(running.start('exit 1'), refused)
  await assert.rejects(refuseOwned(files, 'Cannot recover'), refused)
})

test('a port that another program has is named with its option, before anything is started', async () => {
  await using taken = await scene()
  const server = createServer().listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const refused = new RegExp(`port ${port} is taken by another program; .* --etcd-peer-port`)
  await assert.rejects(taken.start('exit 1', { ports: { client: 0, peer: port } }), refused)
  server.close()
})

test('files of a master that was killed are free', async () => {
  await using killed = await scene()
  const files = etcdFiles(killed.dataDir)
  await mkdir(files.root)
  await writeFile(files.owner, '{"pid":4194304,"startTicks":"1"}')
  await refuseOwned(files, 'Cannot recover')
  await using _own = await ownMember(files, 'Cannot start etcd')
})
