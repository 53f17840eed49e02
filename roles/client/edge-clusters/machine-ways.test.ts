import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHostKeys } from './machine-blocks.ts'
import { wayOf, type WayFlags } from './machine-ways.ts'

const key = `SHA256:${'a'.repeat(43)}`
const none: WayFlags = { jump: undefined, jumpCredentials: undefined, viaCluster: undefined }

const flags: readonly (readonly [string, Partial<WayFlags>, object | RegExp])[] = [
  ['nothing', {}, {}],
  ['--via-site', { viaSite: true }, { via: 'Site' }],
  ['--via-cluster', { viaCluster: 'shop-1' }, { viaCluster: 'shop-1' }],
  ['--jump', { jump: '10.0.0.9' }, { jump: { address: '10.0.0.9', credentials: { name: 'ssh' } } }],
  [
    '--jump with a user, a port, a Secret and a host key',
    { jump: 'gate@10.0.0.2:2222', jumpCredentials: 'gate-ssh' },
    {
      jump: {
        address: '10.0.0.2',
        port: 2222,
        user: 'gate',
        credentials: { name: 'gate-ssh' },
        hostKeys: [key],
      },
    },
  ],
  ['two ways', { jump: '10.0.0.2', viaSite: true }, /give one of --jump, --via-site/],
  ['a Secret alone', { jumpCredentials: 'gate-ssh' }, /--jump-credentials needs --jump/],
  ['a jump host that is none', { jump: 'gate@' }, /is not a machine/],
]
for (const [what, given, wanted] of flags) {
  test(`${what} is ${wanted instanceof RegExp ? 'refused' : 'read'} as the way to machines`, () => {
    const hostKeys = parseHostKeys([`10.0.0.2:2222=${key}`, `10.0.0.11=${key}`])
    const rules = { credentials: 'ssh', hostKeys, acceptNewHostKeys: false }
    const read = (): object => wayOf({ ...none, ...given }, rules)
    if (wanted instanceof RegExp) assert.throws(read, wanted)
    else assert.deepEqual(read(), wanted)
    // The key of the jump host is not taken for a machine's.
    assert.equal(hostKeys.has('10.0.0.2:2222'), given.jump !== 'gate@10.0.0.2:2222')
    assert.ok(hostKeys.has('10.0.0.11'))
  })
}
