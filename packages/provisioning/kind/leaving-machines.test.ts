import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterSpec } from './edge-cluster.ts'
import { lastMasterCauses } from './leaving-machines.ts'

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
