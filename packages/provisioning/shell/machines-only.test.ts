import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { ShellError, type OpenShell, type ShellRequest } from '../contract/shell.ts'
import { machinesOnly } from './machines-only.ts'

const clock = simulatedClock()
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const login = { user: 'root', port: 22 }

function dialled(): { readonly requests: ShellRequest[]; readonly open: OpenShell } {
  const requests: ShellRequest[] = []
  const open: OpenShell = async (request) => {
    requests.push(request)
    throw new ShellError('unreachable', 'nothing answers')
  }
  return { requests, open }
}

const names: readonly [name: string, addresses: readonly string[], outcome: RegExp, ip?: string][] =
  [
    ['shop-7', ['10.0.0.7'], /nothing answers/, '10.0.0.7'],
    ['two', ['10.0.0.7', '10.0.0.8'], /nothing answers/, '10.0.0.7'],
    ['evil', ['127.0.0.1'], /127\.0\.0\.1 is on the hub itself/],
    ['half-evil', ['10.0.0.7', '::1'], /::1 is on the hub itself/],
    ['mapped', ['::ffff:127.0.0.1'], /is on the hub itself/],
    ['metadata', ['169.254.169.254'], /link-local/],
    ['hub', ['192.0.2.1'], /192\.0\.2\.1 is on the hub itself/],
    ['nobody', [], /no address/],
  ]
for (const [address, addresses, outcome, ip] of names) {
  test(`a name that leads to ${addresses.join(', ') || 'nothing'} is ${ip ? 'dialled' : 'refused'}`, async () => {
    const { requests, open } = dialled()
    const ways = { clock, resolve: async () => addresses, ownAddresses: () => ['192.0.2.1'] }
    const shell = machinesOnly(open, ways)
    const request = { address, login, isHostKeyAccepted: () => true }
    await assert.rejects(shell(request, soon()), outcome)
    assert.deepEqual(
      requests.map((each) => each.ip),
      ip === undefined ? [] : [ip],
    )
  })
}

test('a name whose server never answers ends in an error that names it', async () => {
  const { requests, open } = dialled()
  const { promise: never } = Promise.withResolvers<readonly string[]>()
  const ways = { clock, resolve: () => never, ownAddresses: () => [] }
  const request = { address: 'slow.example', login, isHostKeyAccepted: () => true }
  const opening = machinesOnly(open, ways)(request, soon())
  const rejected = assert.rejects(opening, (error: unknown) => {
    assert.ok(error instanceof ShellError)
    assert.match(error.message, /^Cannot resolve slow\.example: no answer in \d+ s/)
    assert.equal(error.fault, 'unreachable')
    return true
  })
  await clock.advance(60_000)
  await rejected
  assert.deepEqual(requests, [])
})
