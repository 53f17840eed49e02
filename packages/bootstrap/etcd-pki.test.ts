import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, type Clock } from '@skerry/base'
import { isIssuedBy, readCertificate } from '@skerry/pki'
import { ensureEtcdPki, etcdPkiPaths } from './mod.ts'

const madeMs = Date.UTC(2026, 10, 29)
const yearMs = 365 * 86_400_000
const at = (nowMs: number): Clock => ({ ...systemClock, now: () => nowMs })
const names = ['server', 'peer', 'client'] as const

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-pki-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function certificatesIn(directory: string): Promise<string[]> {
  const paths = names.map((name) => etcdPkiPaths(directory, name).certificatePath)
  return Promise.all(paths.map((path) => readFile(path, 'utf8')))
}

const clocks: readonly (readonly [string, number])[] = [
  ['in 1970', 60_000],
  ['right a year later', madeMs + yearMs],
  ['nine years ahead', madeMs + 9 * yearMs],
]

for (const [when, nowMs] of clocks) {
  test(`members trust each other while a clock is ${when}, and no certificate is made again`, async () => {
    await inDirectory(async (directory) => {
      const options = { directory, memberName: 'master-1', ipAddresses: ['10.0.0.5'] }
      await ensureEtcdPki(options, at(madeMs))
      const made = await certificatesIn(directory)
      for (const certificatePem of made) {
        const { notBeforeMs, notAfterMs } = readCertificate(certificatePem)
        assert.ok(notBeforeMs <= nowMs && nowMs < notAfterMs)
      }
      await ensureEtcdPki(options, at(nowMs))
      assert.deepEqual(await certificatesIn(directory), made)
    })
  })
}

test('members that were made in 1970 trust each other when their clocks are right', async () => {
  await inDirectory(async (directory) => {
    await ensureEtcdPki(
      { directory, memberName: 'master-1', ipAddresses: ['10.0.0.5'] },
      at(60_000),
    )
    for (const certificatePem of await certificatesIn(directory)) {
      assert.ok(readCertificate(certificatePem).notAfterMs > madeMs + 9 * yearMs)
    }
  })
})

test('a member that was made while its clock was years ahead is trusted by those whose clocks are right', async () => {
  await inDirectory(async (directory) => {
    const options = { directory, memberName: 'master-1', ipAddresses: ['10.0.0.5'] }
    await ensureEtcdPki(options, at(madeMs))
    const authority = await readFile(etcdPkiPaths(directory, 'ca').certificatePath, 'utf8')
    for (const name of names) await rm(etcdPkiPaths(directory, name).certificatePath)
    await ensureEtcdPki(options, at(madeMs + 9 * yearMs))
    for (const certificatePem of await certificatesIn(directory)) {
      assert.ok(isIssuedBy(certificatePem, authority))
      assert.ok(readCertificate(certificatePem).notBeforeMs <= madeMs)
    }
  })
})

test('a member with another address gets certificates with it', async () => {
  await inDirectory(async (directory) => {
    const options = { directory, memberName: 'master-1', ipAddresses: ['10.0.0.5'] }
    await ensureEtcdPki(options, at(madeMs))
    await ensureEtcdPki({ ...options, ipAddresses: ['10.0.0.6'] }, at(madeMs))
    const [server] = (await certificatesIn(directory)).map(readCertificate)
    assert.deepEqual(server?.ipAddresses, ['10.0.0.6'])
  })
})
