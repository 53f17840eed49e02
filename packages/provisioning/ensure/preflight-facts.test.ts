import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findingsOf, parseFacts, roleFindings } from './preflight-facts.ts'
import { factsScript } from './preflight-script.ts'

const nowMs = 1_700_000_000_000
const good: Readonly<Record<string, string>> = {
  os: 'debian 12',
  architecture: 'x86_64',
  kernel: '6.1.0-18-amd64',
  time: '1700000001',
  cgroup: 'cgroup2fs',
  processors: '2',
  memory: '2048000',
  disk: '9000000',
  init: 'systemd',
  packages: 'apt',
}
const modules = 'module overlay\nmodule br_netfilter\n'

function findings(
  changes: Readonly<Record<string, string>>,
  more = modules,
  role: 'Master' | 'Node' | 'Witness' = 'Master',
  hasMember = false,
): string[] {
  const lines = Object.entries({ ...good, ...changes }).map(([name, value]) => `${name} ${value}`)
  return findingsOf(parseFacts(`${lines.join('\n')}\n${more}`), {
    role,
    hasMember,
    clusterName: 'branch-7',
    nowMs,
  })
}

test('a master with etcd has ports and a program of its own', () => {
  const of = (changes: Readonly<Record<string, string>>, more = ''): string[] =>
    findings(changes, modules + more, 'Master', true)
  assert.deepEqual(of({}), [])
  // 2379 and 2380.
  assert.match(of({}, 'port 094B\nport 094C').join(), /port 2379: stop it.*port 2380: stop it/)
  assert.deepEqual(findings({}, `${modules}port 094B`), [])
  assert.match(of({ os: 'ubuntu 24.04' }).join(), /no etcd of 3\.5\.13/)
  assert.match(of({ os: 'ubuntu 24.04', etcd: '3.4.30' }).join(), /no etcd of 3\.5\.13/)
  assert.deepEqual(of({ os: 'ubuntu 24.04', etcd: '3.6.1' }), [])
  assert.match(of({ host: 'witness-2' }).join(), /that of a witness/)
})

test('a master with a package gets the etcd of that, or must have its own', () => {
  const of = (hasEtcd: boolean, etcd = ''): string[] => {
    const lines = Object.entries({ ...good, os: 'ubuntu 24.04', etcd })
    const facts = parseFacts(`${lines.map((pair) => pair.join(' ')).join('\n')}\n${modules}`)
    const judged = { role: 'Master' as const, hasMember: true, clusterName: 'branch-7', nowMs }
    return findingsOf(facts, { ...judged, hasEtcd })
  }
  assert.deepEqual(of(true), [])
  assert.match(of(false).join(), /no etcd of 3\.5\.13 .* the package has none; make it with --etcd/)
  assert.deepEqual(of(false, '3.5.16'), [])
})

test('a witness needs little: no modules, and no ports of a node', () => {
  assert.deepEqual(findings({ memory: '300000' }, 'port 192B\nport 280A', 'Witness'), [])
})

test('a machine that is fit has no findings', () => {
  assert.deepEqual(findings({}), [])
  assert.deepEqual(findings({ cgroup: 'tmpfs', kernel: '5.8.0', architecture: 'aarch64' }), [])
})

const changed: readonly [Readonly<Record<string, string>>, RegExp][] = [
  [{ architecture: 'armv7l' }, /armv7l: use x86_64/],
  [{ init: 'no' }, /systemd does not run/],
  [{ packages: '', os: 'alpine 3' }, /alpine 3\) has no apt/],
  [{ cgroup: 'ext4' }, /no control groups/],
  [{ kernel: '5.4.0' }, /5\.4\.0: 5\.8 or newer/],
  [{ kernel: '' }, /unknown: 5\.8 or newer/],
  [{ kernel: 'x.y' }, /x\.y: 5\.8 or newer/],
  [{ memory: '300000' }, /293 MB of memory: a Master needs 700/],
  [{ memory: 'much' }, /memory: a Master needs/],
  [{ disk: '1000' }, /1 MB free/],
  [{ processors: '' }, /processors is unknown/],
  [{ time: '1700000100' }, /100 s ahead of the hub's/],
  [{ time: '1699999000' }, /1000 s behind the hub's/],
  [{ time: 'soon' }, /its clock/],
]
for (const [facts, finding] of changed) {
  test(`${JSON.stringify(facts)} is found`, () => {
    const found = findings(facts)
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(found[0] ?? '', finding)
  })
}

const added: readonly [what: string, lines: string, expected: readonly RegExp[]][] = [
  ['no modules', '', [/overlay/, /br_netfilter/]],
  ['swap', `${modules}swap /dev/sda2\n`, [/swaps to \/dev\/sda2: run swapoff/]],
  [
    'another Kubernetes',
    `${modules}leftover /var/lib/rancher/k3s\n`,
    [/rancher\/k3s is of another/],
  ],
  ['a port of the site', `${modules}port 192B\n`, [/port 6443/]],
  ['both ports', `${modules}port 192B\nport 280A\nport 192B\n`, [/port 6443/, /port 10250/]],
  ['another port', `${modules}port 0016\n`, []],
  [
    'another cluster of ours',
    `${modules}ours {"clusterName":"other"}\n`,
    [/belongs to cluster other/],
  ],
  ['a settings file that is broken', `${modules}ours {\n`, [/unknown name/]],
  ['its own cluster with its ports', `${modules}ours {"clusterName":"branch-7"}\nport 192B\n`, []],
]
for (const [what, lines, expected] of added) {
  test(`${what} makes ${expected.length} findings`, () => {
    const found = findings({}, lines)
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern)
  })
}

test('a role that no edge cluster has made is found: cleaning would remove it', () => {
  const of = (lines: string): readonly string[] => roleFindings(parseFacts(lines))
  assert.deepEqual(of('host shop-1'), [])
  const unit = 'role /etc/systemd/system/skerry-hub.service'
  const [found = '', ...more] = of(`${unit}\nrole /var/lib/skerry/hub`)
  assert.match(
    found,
    /skerry-hub\.service, \/var\/lib\/skerry\/hub of a role that no edge cluster has/,
  )
  assert.deepEqual(more, [])
  assert.deepEqual(of(`${unit}\nours {"clusterName":"branch-7"}`), [])
})

test('a node does not need the port of the site, and less memory', () => {
  assert.deepEqual(findings({ memory: '500000' }, `${modules}port 192B\n`, 'Node'), [])
})

test('a machine with a hundred thousand facts gets short findings soon', () => {
  assert.equal(findings({}, `${modules}${'leftover /x\n'.repeat(100_000)}`).length, 10)
})

test('the script of the facts runs in a POSIX shell and is read', async () => {
  const { stdout } = await promisify(execFile)('sh', ['-c', factsScript])
  const facts = parseFacts(stdout)
  assert.match(facts.get('architecture')?.[0] ?? '', /^\w+$/)
  assert.match(facts.get('memory')?.[0] ?? '', /^\d+$/)
  assert.match(facts.get('disk')?.[0] ?? '', /^\d+$/)
})
