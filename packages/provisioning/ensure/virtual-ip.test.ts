import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepError } from '../contract/step.ts'
import { fakeShell, type FakeShell } from '../testing/fake-shell.ts'
import { contextOn } from '../testing/target-scene.ts'
import { keepalivedText } from './keepalived-text.ts'
import { holderScript } from './holder-script.ts'
import { setVirtualIp } from './virtual-ip.ts'

const credentials = { name: 'ssh' }
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3']

/** The device that has the address of the tests already, if there is one. */
let stranger: string | undefined

function machine(address: string): FakeShell {
  let isActive = false
  return fakeShell((command) => {
    if (command[2] === holderScript) return { stdout: stranger ?? '' }
    const [program, verb] = command
    if (program === 'ip') {
      const addr_info = [{ local: address, prefixlen: 24 }]
      return { stdout: JSON.stringify([{ ifname: 'eth0', addr_info }]) }
    }
    if (program === 'uname') return { stdout: 'm1\n' }
    if (program === 'systemctl' && verb === 'is-active') return { exitCode: isActive ? 0 : 3 }
    if (program === 'systemctl' && verb === 'restart') isActive = true
    return undefined
  })
}

function contextFor(virtual: string | undefined) {
  const shells = Object.fromEntries(addresses.map((each) => [each, machine(each)]))
  const type = virtual === undefined ? ('None' as const) : ('VirtualIP' as const)
  const highAvailability = { type, ...(virtual === undefined ? {} : { address: virtual }) }
  const spec = { machines: [{ addresses, credentials, role: 'Master' as const }], highAvailability }
  const context = contextOn('10.0.0.1', { spec, known: [], shells })
  const shell = shells['10.0.0.1']
  assert.ok(shell)
  return { context, shell }
}

const file = '/etc/skerry/virtual-ip/keepalived.conf'
const systemctl = ({ commands }: FakeShell): string[] =>
  commands.filter(([program]) => program === 'systemctl').map((words) => words.join(' '))

test('a master holds the address for the others, and a second run only reloads', async () => {
  const { context, shell } = contextFor('10.0.0.100')
  await setVirtualIp(context)
  const text = shell.files.get(file) ?? ''
  assert.match(text, /10\.0\.0\.100\/32 dev eth0/)
  assert.match(
    text,
    /unicast_src_ip 10\.0\.0\.1\n {2}unicast_peer \{\n {4}10\.0\.0\.2\n {4}10\.0\.0\.3\n/,
  )
  assert.match(text, /virtual_router_id 100\n/)
  assert.equal(shell.modes.get('/etc/skerry/virtual-ip/check-site'), 0o700)
  assert.ok(systemctl(shell).includes('systemctl restart skerry-virtual-ip'))
  assert.match(shell.files.get('/etc/skerry/machine.json') ?? '', /"hasVirtualIP":true/)
  shell.commands.length = 0
  await setVirtualIp(context)
  assert.deepEqual(systemctl(shell).slice(-1), ['systemctl reload skerry-virtual-ip'])
  assert.equal(shell.files.get(file), text)
})

test('an address outside the network of the masters is refused before anything is installed', async () => {
  const { context, shell } = contextFor('10.0.1.100')
  await assert.rejects(setVirtualIp(context), (error) => {
    assert.ok(error instanceof StepError && error.isFinal)
    assert.match(
      error.message,
      /the network of eth0 \(10\.0\.0\.1\/24\) does not have .* 10\.0\.1\.100/,
    )
    return true
  })
  assert.equal(shell.files.size, 0)
})

test('an address that somebody has taken after the preflight is refused before anything is installed', async () => {
  const { context, shell } = contextFor('10.0.0.100')
  stranger = '02:00:00:aa:bb:cc eth0'
  try {
    await assert.rejects(
      setVirtualIp(context),
      /device 02:00:00:aa:bb:cc, .* 10\.0\.0\.100 already/,
    )
  } finally {
    stranger = undefined
  }
  assert.equal(shell.files.size, 0)
  await setVirtualIp(context)
  assert.match(shell.files.get(file) ?? '', /10\.0\.0\.100\/32/)
})

test('the address goes when nobody asks for it any more', async () => {
  const { context, shell } = contextFor(undefined)
  shell.files.set(file, 'x')
  shell.files.set('/etc/systemd/system/skerry-virtual-ip.service', 'the unit')
  await setVirtualIp(context)
  assert.equal(shell.files.has(file), false)
  assert.ok(systemctl(shell).includes('systemctl disable --now --quiet skerry-virtual-ip'))
  assert.match(shell.files.get('/etc/skerry/machine.json') ?? '', /"hasVirtualIP":false/)
})

const holder = {
  virtual: '10.0.0.9',
  address: '10.0.0.1',
  link: 'eth0',
  router: 9,
  priority: 200,
  peers: ['10.0.0.2'],
}
const odd: readonly [string, Partial<typeof holder>][] = [
  ['a virtual IP', { virtual: '10.0.0.9\n}' }],
  ['a peer', { peers: ['10.0.0.2', 'a b'] }],
  ['an interface', { link: 'eth0 {' }],
]
for (const [what, fields] of odd) {
  test(`${what} with special characters never reaches the configuration`, () => {
    assert.throws(() => keepalivedText({ ...holder, ...fields }), RangeError)
  })
}
