import assert from 'node:assert/strict'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Command } from 'commander'
import { ExpectedError } from '@skerry/base'
import {
  embeddedEtcdOf,
  withEmbeddedEtcdOptions,
  type EmbeddedEtcdFlags,
} from './embedded-etcd-flags.ts'

function flagsOf(...words: string[]): EmbeddedEtcdFlags {
  const command = withEmbeddedEtcdOptions(new Command()).exitOverride()
  command.configureOutput({ writeErr: () => undefined })
  return command.parse(words, { from: 'user' }).opts<EmbeddedEtcdFlags>()
}

test('without the option a site runs no etcd', () => {
  assert.equal(embeddedEtcdOf(flagsOf()), undefined)
})

test('an etcd of the site has defaults for everything but its name', () => {
  const options = embeddedEtcdOf(flagsOf('--etcd', 'embedded', '--master-name', 'master-1'))
  assert.deepEqual(options, {
    memberName: 'master-1',
    program: undefined,
    ports: { client: 2379, peer: 2380 },
    heartbeatMs: 100,
    quotaBytes: 2 * 1024 ** 3,
    backups: { everyMs: 12 * 3_600_000, keep: 5 },
  })
})

test('the token of a join is read when it is needed, and from a file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-flags-'))
  const file = join(directory, 'token')
  const join1 = ['--etcd', 'embedded', '--join', 'https://10.0.0.5:6443', '--token-file', file]
  const options = embeddedEtcdOf(flagsOf(...join1, '--replaces', 'master-2'))
  assert.equal(options?.joining?.server, 'https://10.0.0.5:6443')
  assert.equal(options.joining.replaces, 'master-2')
  await assert.rejects(options.joining.readToken(), ExpectedError)
  await writeFile(file, 'token')
  assert.equal(await options.joining.readToken(), 'token')
  await rm(directory, { recursive: true })
})

const wrong: readonly (readonly string[])[] = [
  ['--join', 'https://10.0.0.5:6443'],
  ['--master-name', 'master-1'],
  ['--etcd', 'embedded', '--replaces', 'master-2'],
]

for (const words of wrong) {
  test(`${words.join(' ')} is refused, because something is missing`, () => {
    assert.throws(() => embeddedEtcdOf(flagsOf(...words)), ExpectedError)
  })
}

test('etcd needs two ports', () => {
  const flags = flagsOf('--etcd', 'embedded', '--etcd-client-port', '2380')
  assert.throws(() => embeddedEtcdOf(flags), /--etcd-client-port and --etcd-peer-port are the same/)
})

test('one site does not run an etcd and use another', () => {
  const flags = flagsOf('--etcd', 'embedded')
  assert.throws(() => embeddedEtcdOf(flags, ['https://10.0.0.5:2379']), ExpectedError)
})

const unreadable: readonly (readonly [option: string, value: string])[] = [
  ['--etcd', 'external'],
  ['--etcd-heartbeat', '5'],
  ['--etcd-heartbeat', '6000'],
  ['--etcd-quota-bytes', '1Gi'],
  ['--etcd-backup-every', '10s'],
  ['--master-name', 'a=b,c'],
  ['--master-name', 'Master'],
  ['--join', 'http://10.0.0.5:6443'],
]

for (const [option, value] of unreadable) {
  test(`${option} ${value} is refused`, () => {
    assert.throws(() => flagsOf(option, value))
  })
}
