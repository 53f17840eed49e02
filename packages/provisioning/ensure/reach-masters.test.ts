import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError } from '../contract/step.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { reachMasters } from './reach-masters.ts'

const credentials = { name: 'ssh' }
const addresses = ['10.0.0.1', '10.0.0.2']
const ports = [2_379, 2_380, 6_443]
const near = ports.map((port) => `port ${port} 900`)

interface Seen {
  readonly lines?: readonly string[]
  /** How far the clock of the other machine is ahead. */
  readonly aheadMs?: number
  readonly heartbeatMilliseconds?: number
  /** False: the machine has no program that lists its addresses. */
  readonly hasIp?: boolean
  readonly networkInterface?: string
}

function look(seen: Seen): Promise<string> {
  const { lines = near, aheadMs = 0, heartbeatMilliseconds = 100, hasIp = true } = seen
  const shells = Object.fromEntries(
    addresses.map((address, at) => {
      const addr_info = [{ local: address, prefixlen: 24 }]
      const shell = fakeShell(([program]) => {
        if (program === 'ip' && !hasIp) return { exitCode: 127 }
        if (program === 'ip') return { stdout: JSON.stringify([{ ifname: 'e', addr_info }]) }
        if (program === 'date') return { stdout: `${at === 0 ? 0 : aheadMs}\n` }
        return { stdout: `${lines.join('\n')}\n` }
      })
      return [address, shell]
    }),
  )
  const machines = [
    { addresses, credentials, role: 'Master' as const },
    { addresses: ['10.0.0.9'], credentials },
  ]
  const store = { type: 'Etcd' as const, heartbeatMilliseconds }
  const { networkInterface } = seen
  const asked = networkInterface === undefined ? {} : { networkInterface }
  const spec = { machines, store, ...asked }
  return reachMasters(contextOn('10.0.0.1', { spec, known: [], shells }))
}

const fit: readonly [what: string, seen: Seen, result: string][] = [
  ['near each other', {}, '0.9 ms to the others'],
  ['apart', { lines: near.map((line) => `${line}00`) }, '90 ms to the others'],
  ['that are bare', { hasIp: false }, '0.9 ms to the others'],
  [
    'that are bare and have a named interface',
    { hasIp: false, networkInterface: 'e' },
    '0 ms to the others',
  ],
  ['that differ by seconds', { aheadMs: 9_000 }, '0.9 ms to the others'],
]
for (const [what, seen, result] of fit) {
  test(`masters ${what} are fit`, async () => {
    assert.equal(await look(seen), result)
  })
}

const unfit: readonly [what: string, seen: Seen, why: RegExp][] = [
  [
    'a closed port',
    { lines: [...near.slice(0, 2), 'port 6443 silent'] },
    /nothing comes back from TCP port 6443 of 10\.0\.0\.2/,
  ],
  [
    'a slow way',
    { lines: near.map((line) => `${line.replace('900', '230000')}`) },
    /takes 230 ms: set spec\.store\.heartbeatMilliseconds to 230/,
  ],
  [
    'a way that is too slow',
    { lines: near.map((line) => `${line.replace('900', '310000')}`), heartbeatMilliseconds: 1_000 },
    /takes 310 ms: masters may be at most 300 ms apart/,
  ],
  ['a wrong clock', { aheadMs: -11_000 }, /the clock of 10\.0\.0\.2 differs by -11 s/],
  ['a clock that says nothing', { aheadMs: Number.NaN }, /the clock of 10\.0\.0\.2/],
  ['a machine that lies', { lines: ['port 2379 1;reboot', 'x'] }, /TCP port 2379 of 10\.0\.0\.2/],
]
for (const [what, seen, why] of unfit) {
  test(`${what} between masters is a finding with its remedy`, async () => {
    await assert.rejects(look(seen), (error) => {
      assert.ok(error instanceof StepError && error.isFinal)
      assert.match(error.findings.join('\n'), why)
      return true
    })
  })
}
