import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { detectCgroups } from './cgroups.ts'
import { containerdConfigToml } from './containerd-config.ts'
import { isRunning, processIdentity, readPidFile } from './process-identity.ts'

const mounts: [string, string, string][] = [
  ['v2 only', 'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0', 'v2 /sys/fs/cgroup'],
  [
    'v1 with a v2 mount beside it',
    'tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0',
    'v1 /sys/fs/cgroup/cpu /sys/fs/cgroup/unified',
  ],
  ['none', 'proc /proc proc rw 0 0', 'none'],
]

for (const [name, text, expected] of mounts) {
  test(`cgroups: ${name}`, async (context) => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-cgroups-'))
    context.after(() => rm(directory, { recursive: true, force: true }))
    const mountsFile = join(directory, 'mounts')
    await writeFile(mountsFile, text)
    const { mode, roots } = await detectCgroups(mountsFile)
    assert.equal([mode, ...roots].join(' '), expected)
  })
}

test('the config names every place and limit that a node needs of its own', () => {
  const text = containerdConfigToml({
    rootDirectory: '/d/root',
    stateDirectory: '/r/state',
    socket: '/r/c.sock',
    cniConfDirectory: '/r/cni',
    cniBinDirectory: '/usr/lib/cni',
    registryDirectory: '/d/certs',
    sandboxImage: 'localhost/pause:1',
    snapshotter: 'overlayfs',
    handlers: { runc: 'runc', crun: '/usr/bin/crun' },
    disableApparmor: true,
    restrictOomScoreAdj: true,
    disableCgroup: false,
  })
  for (const line of [
    'root = "/d/root"',
    'state = "/r/state"',
    'address = "/r/c.sock"',
    'sandbox_image = "localhost/pause:1"',
    'conf_dir = "/r/cni"',
    'config_path = "/d/certs"',
    'default_runtime_name = "runc"',
    'restrict_oom_score_adj = true',
    'netns_mounts_under_state_dir = true',
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes."crun".options]',
    'BinaryName = "/usr/bin/crun"',
  ]) {
    assert.ok(text.includes(`${line}\n`), line)
  }
})

test('a process is the one in the file only in the same boot and since the same start', async () => {
  const own = await processIdentity(process.pid)
  assert.equal(await isRunning(own), true)
  assert.equal(await isRunning({ ...own, startTicks: '1' }), false)
  assert.equal(await isRunning({ ...own, bootId: 'another' }), false)
  assert.equal(await isRunning({ ...own, pid: 2 ** 22 + 1 }), false)
})

test('a torn pid file adopts nothing', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-pid-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'pid')
  assert.equal(await readPidFile(file), undefined)
  await writeFile(file, '{"pid": 1')
  assert.equal(await readPidFile(file), undefined)
  await writeFile(file, '{"pid": "1"}')
  assert.equal(await readPidFile(file), undefined)
})
