/**
 * Tests a machine that others have changed, or on which a command of ours was interrupted: the program
 * repairs it or reports what to do.
 */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { resetSteps } from '../../roles/up/reset.ts'
import { Machine, expectSuccess } from './machine.ts'
import { whyNot } from './prerequisites.ts'
import { waitFor } from './wait-for.ts'

test('half-done work', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using machine = await Machine.start('half')
  await t.test('rules, routes, addresses and switches of the kernel are put back', () =>
    healsKernel(machine),
  )
  await t.test('up says Ready when pods have their network again', () => comesUpWhole(machine))
  await t.test('pods that ended unseen are shown as they are, and run again', () =>
    seesEnds(machine),
  )
  await t.test('a reset that is killed at any step is finished by the next', () => resets(machine))
  await t.test('a reset removes everything that lies beneath mounts of others', () =>
    uncovers(machine),
  )
  await t.test('a reset that cannot remove everything says what stays', () => names(machine))
})

async function shell(machine: Machine, script: string): Promise<string> {
  return expectSuccess(machine.host.run(['sh', '-ec', script]))
}

/** Returns whether pods reach each other by name: over DNS, the service's address and the way to another pod. */
async function asksByName(machine: Machine): Promise<boolean> {
  const ask = ['exec', '-n', 'guestbook', 'deploy/web', '--', 'wget', '-q', '-O', '-']
  const { stdout } = await machine.inContext('edge', [...ask, 'http://web.guestbook.svc/healthz'])
  return stdout === 'ok\n'
}

async function containers(machine: Machine): Promise<string> {
  const path =
    '{range .items[*].status.containerStatuses[*]}{.containerID} {.restartCount}{"\\n"}{end}'
  const selector = 'app in (web,redis)'
  return machine.kubectl('get', 'pods', '-n', 'guestbook', '-l', selector, '-o', `jsonpath=${path}`)
}

async function healsKernel(machine: Machine): Promise<void> {
  await expectSuccess(machine.up())
  await machine.deployGuestbook()
  await machine.visit()
  const before = await containers(machine)
  await shell(
    machine,
    `ip netns add another
    nft flush ruleset
    conntrack --flush
    ip route flush proto 74
    ip address flush dev lo scope global
    echo 0 > /proc/sys/net/ipv4/ip_forward
    echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables`,
  )
  await machine.visit()
  await waitFor('names to lead to services', async () => (await asksByName(machine)) || undefined)
  await waitFor('the switches to be as they were', async () => {
    const switches = 'net/ipv4/ip_forward net/bridge/bridge-nf-call-iptables'
    const text = await shell(machine, `cd /proc/sys && cat ${switches}`)
    return text === '1\n1\n' || undefined
  })
  await shell(
    machine,
    'nft flush chain ip skerry $(nft list chains ip | sed -n "s/.*chain \\(n[0-9]*\\) .*/\\1/p" | head -1)',
  )
  await machine.visit()
  assert.equal(await containers(machine), before)
}

async function comesUpWhole(machine: Machine): Promise<void> {
  const before = await containers(machine)
  await expectSuccess(machine.withData('down'))
  await shell(
    machine,
    `ip link delete skerry0; nft flush ruleset; rm -r /run/skerry/node/cni/*
    ip link add skerry0 type veth peer name other`,
  )
  let isUp = false
  const coming = machine.up().finally(() => (isUp = true))
  const condition = '{.items[0].status.conditions[?(@.type=="Ready")]}'
  const ready = (): Promise<string> =>
    machine.kubectl('get', 'nodes', '-o', `jsonpath=${condition}`)
  await waitFor('the node to say what is wrong', async () => {
    return /"message":"node network not ready: .*skerry0/.test(await ready()) || undefined
  })
  assert.equal(isUp, false, 'a report from before the node was stopped does not count')
  await shell(machine, 'ip link delete skerry0')
  await expectSuccess(coming)
  // Not by and by: who reads Ready may send traffic.
  assert.match(await ready(), /"status":"True"/)
  assert.match(await shell(machine, 'ip -o link show master skerry0'), /veth/)
  assert.match(await shell(machine, 'nft list tables'), /table ip skerry/)
  await machine.visit()
  assert.equal(await containers(machine), before)
}

/** Leaves containers as a reset does that ended after the pods: their end was seen by nobody. */
async function seesEnds(machine: Machine): Promise<void> {
  const before = await containers(machine)
  await expectSuccess(machine.withData('down'))
  await shell(
    machine,
    `for pid in $(cat /sys/fs/cgroup/*/skerry/${machine.nodeName}/*/*/cgroup.procs | sort -u); do
      kill -9 "$pid" || true
    done`,
  )
  await expectSuccess(machine.up())
  await waitFor('every container to be another, and Ready', async () => {
    const now = await containers(machine)
    const isAnother = before
      .trim()
      .split('\n')
      .every((line) => !now.includes(line))
    const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}'
    const pods = ['get', 'pods', '-n', 'guestbook', '-l', 'app in (web,redis)']
    const states = await machine.kubectl(...pods, '-o', `jsonpath=${ready}`)
    return (isAnother && /^True( True)+$/.test(states)) || undefined
  })
  await machine.visit()
}

async function resets(machine: Machine): Promise<void> {
  await shell(machine, 'ip netns add later')
  for (const step of resetSteps) {
    const script = join(import.meta.dirname, 'reset-until.ts')
    const killed = await machine.host.run([process.execPath, script, machine.dataDir, step])
    assert.equal(killed.exitCode, 137, `${step}: ${killed.stderr}`)
  }
  const { exitCode, stderr } = await machine.up()
  assert.equal(exitCode, 6)
  assert.match(stderr, /^skerry: Cannot start: a reset of \S+ did not come to its end; run .*\n$/)
  await leavesNothing(machine)
  assert.equal(await shell(machine, 'ip netns list | sort'), 'another\nlater\n')
}

async function uncovers(machine: Machine): Promise<void> {
  await expectSuccess(machine.up())
  await machine.deployGuestbook()
  await shell(
    machine,
    `mount --bind /run/skerry /run/skerry
    mount --bind /run/skerry/node/containerd /run/skerry/node/containerd
    mount --rbind /run /run
    mount --rbind ${machine.dataDir} ${machine.dataDir}`,
  )
  await leavesNothing(machine)
}

async function names(machine: Machine): Promise<void> {
  await expectSuccess(machine.up())
  const parent = dirname(machine.dataDir)
  await shell(machine, `mount --bind ${parent} ${parent} && mount -o remount,ro,bind ${parent}`)
  const { stderr, exitCode } = await machine.withData('reset', '--yes')
  assert.equal(exitCode, 1)
  const stays = `^skerry: Cannot take everything away: ${machine.dataDir} stays; .*read-only.*\n$`
  assert.match(stderr, new RegExp(stays))
  await shell(machine, `umount --lazy ${parent}`)
  await leavesNothing(machine)
}

async function leavesNothing(machine: Machine): Promise<void> {
  assert.equal(await expectSuccess(machine.withData('reset', '--yes')), 'Nothing is left.\n')
  const { stdout: processes } = await machine.host.run(['ps', '-eo', 'args='])
  assert.doesNotMatch(processes, new RegExp(machine.dataDir))
  assert.doesNotMatch(
    await shell(machine, 'cat /proc/self/mountinfo'),
    new RegExp(`${machine.dataDir}|/run/skerry|/cni-`),
  )
  assert.equal(await shell(machine, 'nft list ruleset'), '')
  assert.doesNotMatch(await shell(machine, 'ip -o link'), /skerry|veth/)
  for (const path of [machine.dataDir, '/sys/fs/cgroup/memory/skerry/' + machine.nodeName]) {
    await assert.rejects(stat(path), { code: 'ENOENT' })
  }
  assert.equal((await machine.host.run(['ls', '/run/skerry'])).exitCode, 2)
}
