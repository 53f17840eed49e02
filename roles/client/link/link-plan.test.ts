import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CannotDelayError, planCut, planLink, type LinkFaults } from './link-plan.ts'

const place = { interface: 'eth0', netns: 'edge-1' }
const faults: LinkFaults = { lossPercent: 2.5, bitsPerSecond: 8_000_000 }

/** The rules that a plan adds to the table, by direction. */
function rulesOf(table: string): { arriving: string[]; leaving: string[] } {
  const rules = (chain: string): string[] => {
    const [, body = ''] = new RegExp(`chain ${chain} {([^}]*)}`).exec(table) ?? []
    return body
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('eth0'))
  }
  return { arriving: rules('arriving'), leaving: rules('leaving') }
}

test('with netem, the kernel handles packets that leave, and nftables those that arrive', () => {
  const plan = planLink({ ...faults, delayMs: 150 }, place, { hasNetem: true })
  const netem = 'netem delay 150ms loss 2.5% rate 8000000bit'
  assert.equal(plan.queue?.join(' '), `qdisc add dev eth0 root ${netem}`)
  assert.deepEqual(rulesOf(plan.table), {
    arriving: [
      'iifname "eth0" numgen random mod 1000000 < 25000 drop',
      'iifname "eth0" limit rate over 1000000 bytes/second burst 65536 bytes drop',
    ],
    leaving: [],
  })
})

test('without netem, tbf slows down, nftables loses in both directions, and a delay is refused', () => {
  const plan = planLink(faults, place, { hasNetem: false })
  assert.equal(
    plan.queue?.join(' '),
    'qdisc add dev eth0 root tbf rate 8000000bit burst 65536 latency 200ms',
  )
  assert.deepEqual(rulesOf(plan.table).leaving, [
    'oifname "eth0" numgen random mod 1000000 < 25000 drop',
  ])
  assert.equal(planLink({ lossPercent: 5 }, place, { hasNetem: false }).queue, undefined)
  assert.throws(() => planLink({ delayMs: 1 }, place, { hasNetem: false }), CannotDelayError)
})

test('a cut is an element that a timer of the kernel removes', () => {
  const { table } = planLink({}, place, { hasNetem: false })
  for (const rule of ['iifname @cut drop', 'oifname @cut drop']) assert.ok(table.includes(rule))
  assert.equal(
    planCut({ interface: 'wan-1', netns: undefined }, 5_000),
    'add element inet skerry_link_wan_1 cut { "wan-1" timeout 5000ms }\n',
  )
})
