import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockWay } from './block-way.ts'
import type { EdgeClusterSpec } from './edge-cluster.ts'
import { lastMasterCauses, leavingMachines, loginToKeep } from './leaving-machines.ts'
import { machinesOf } from './machine-addresses.ts'

const credentials = { name: 'ssh' }
const specOf = (masters: string[], nodes: string[] = []): EdgeClusterSpec => ({
  machines: [
    { addresses: masters, credentials, role: 'Master' },
    { addresses: nodes, credentials },
  ],
})

const changes: readonly [
  what: string,
  next: EdgeClusterSpec,
  old: EdgeClusterSpec,
  isRefused: boolean,
][] = [
  ['a node goes', specOf(['m']), specOf(['m'], ['a']), false],
  ['the only master goes', specOf(['n']), specOf(['m']), true],
  ['the only master becomes a node', specOf(['n'], ['m']), specOf(['m']), true],
  ['one of two masters goes', specOf(['m']), specOf(['m', 'n']), false],
  ['both of two masters go', specOf(['o']), specOf(['m', 'n']), true],
]
for (const [what, next, old, isRefused] of changes) {
  test(`${isRefused ? 'it is refused' : 'it is permitted'} that ${what}`, () => {
    const causes = lastMasterCauses(next, old)
    assert.deepEqual(
      causes.map(({ field }) => field),
      isRefused ? ['spec.machines'] : [],
    )
    if (isRefused) assert.match(causes[0]?.message ?? '', /the last master, m/)
  })
}

const jump = { address: '10.0.0.2', user: 'gate', credentials: { name: 'gate-ssh' } }
const ways: readonly [what: string, way: BlockWay][] = [
  ['a jump host', { jump }],
  ['the site', { via: 'Site' }],
  ['another cluster', { viaCluster: 'shop-1' }],
  ['the hub itself', {}],
]
for (const [what, way] of ways) {
  test(`a machine that is reached through ${what} leaves on the same way`, () => {
    const block = { addresses: ['a'], credentials, user: 'admin', port: 2222, ...way }
    const [planned] = machinesOf({ machines: [block] })
    assert.ok(planned)
    const login = loginToKeep(planned)
    const [leaving] = leavingMachines([], [{ address: 'a', role: 'Node', isChanged: true, login }])
    assert.deepEqual(leaving?.block, { ...block, role: 'Node' })
  })
}
