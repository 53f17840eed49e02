import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mirrorsIn } from './debian-mirrors.ts'
import { isAtLeast, readVersion } from './etcd-version.ts'
import { memberArguments, type MemberPlan } from './member-command.ts'
import { etcdFiles } from './embedded-options.ts'

test('an etcd that is too old is not used', () => {
  const bad = ['3.4.23', '3.4.31', '3.5.12', '2.9.9']
  const good = ['3.5.13', '3.5.16', '3.6.0', '4.0.0']
  assert.deepEqual(
    [...bad, ...good].filter((version) => isAtLeast(version, '3.5.13')),
    good,
  )
})

test('versions are read as the programs print them', () => {
  assert.equal(readVersion('etcd Version: 3.5.16\nGit SHA: Not provided\n'), '3.5.16')
  assert.equal(readVersion('etcdutl version: 3.5.16\nAPI version: 3.5\n'), '3.5.16')
  assert.equal(readVersion('kine version v0.17.5'), undefined)
})

test('the mirror of the machine is used, and no other repository', () => {
  const lines = [
    'https://packages.cloud.google.com/apt/ cloud-sdk-bookworm main',
    'http://deb.debian.org/debian/ bookworm main',
    'http://deb.debian.org/debian/ bookworm contrib',
    'http://deb.debian.org/debian-security/ bookworm-security main',
    '',
  ].join('\n')
  assert.deepEqual(mirrorsIn(lines, 'bookworm'), {
    main: 'http://deb.debian.org/debian/',
    security: 'http://deb.debian.org/debian-security/',
  })
  assert.equal(mirrorsIn(lines, 'trixie'), undefined)
  assert.equal(mirrorsIn('file:/srv/debian bookworm main', 'bookworm'), undefined)
})

const plan: MemberPlan = {
  name: 'master-1',
  version: '3.5.16',
  files: etcdFiles('/data'),
  bindAddress: '0.0.0.0',
  peerUrl: 'https://10.0.0.1:2380',
  clientUrl: 'https://10.0.0.1:2379',
  heartbeatMs: 50,
  quotaBytes: 2_147_483_648,
  initialCluster: 'master-1=https://10.0.0.1:2380',
  isJoining: false,
}

test('members speak to each other and to clients with certificates only', () => {
  const args = memberArguments(plan)
  for (const word of ['--client-cert-auth=true', '--peer-client-cert-auth=true']) {
    assert.ok(args.includes(word), word)
  }
  assert.deepEqual(
    args.filter((each) => each.includes('http://')),
    [],
  )
})

test('an election takes ten heartbeats', () => {
  const args = memberArguments(plan)
  assert.ok(args.includes('--heartbeat-interval=50'))
  assert.ok(args.includes('--election-timeout=500'))
})

test('etcd 3.6 gets the words of its own version', () => {
  const old = memberArguments(plan).filter((each) => each.startsWith('--experimental'))
  assert.equal(old.length, 2)
  const args = memberArguments({ ...plan, version: '3.6.8' })
  assert.deepEqual(
    args.filter((each) => each.startsWith('--experimental')),
    [],
  )
})

test('a master at one address serves its own site on the loopback, too', () => {
  const args = memberArguments({ ...plan, bindAddress: '10.0.0.1' })
  assert.ok(args.includes('--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379'))
  assert.ok(args.includes('--listen-peer-urls=https://10.0.0.1:2380'))
})
