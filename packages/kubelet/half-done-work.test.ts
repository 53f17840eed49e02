/** Proves that a node heals after other programs changed its network and files, and after a crash left work half done. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isStatusError, type Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import { until } from '@skerry/testing'
import { RealNode, prepareHost, realNodeName, runOnRealNode } from './testing/real-node.ts'

await runOnRealNode(import.meta.url, 'a node on which others have worked', testInNamespaces)

const signal = new AbortController().signal

/** A web server that answers with its own name, and ends as soon as it is asked to. */
const serving = {
  name: 'main',
  image: 'busybox:test',
  command: ['sh', '-c', 'trap exit TERM; hostname > /tmp/name; httpd -f -p 8080 -h /tmp & wait'],
}

function run(...command: string[]): string {
  const [file = '', ...args] = command
  return execFileSync(file, args, { encoding: 'utf8' })
}

async function answers(pod: Pod): Promise<boolean> {
  const url = `http://${pod.status?.podIP}:8080/name`
  const asked = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  return asked !== undefined && (await asked.text()).trim() === pod.metadata.name
}

function conditionOf(pod: Pod, type: string): string | undefined {
  return pod.status?.conditions?.find((one) => one.type === type)?.status
}

/** Returns the fields that distinguish a container from its successor. */
function identityOf(pod: Pod): string {
  const [main] = pod.status?.containerStatuses ?? []
  return `${main?.containerID} ${main?.restartCount}`
}

class Scene {
  readonly node: RealNode

  constructor(node: RealNode) {
    this.node = node
  }

  async isServing(name: string): Promise<boolean> {
    const pod = await this.node.pod(name)
    return conditionOf(pod, 'Ready') === 'True' && (await answers(pod))
  }

  async serve(name: string): Promise<Pod> {
    await this.node.createPod(name, { containers: [serving], terminationGracePeriodSeconds: 1 })
    await until(() => this.isServing(name))
    return this.node.pod(name)
  }

  async end(name: string): Promise<void> {
    await this.node.api.resource(resources.pods).delete({ namespace: 'default', name }, signal)
    await until(() =>
      this.node.pod(name).then(
        () => false,
        (error: unknown) => isStatusError(error, 'NotFound'),
      ),
    )
  }

  /** Serves again without having been started again. */
  async healed(before: Pod): Promise<void> {
    const name = before.metadata.name ?? ''
    await until(() => this.isServing(name))
    assert.equal(identityOf(await this.node.pod(name)), identityOf(before))
  }

  /** Serves again, from containers in another sandbox, and what ran before does not. */
  async replaced(before: Pod): Promise<void> {
    const name = before.metadata.name ?? ''
    await until(async () => {
      const pod = await this.node.pod(name)
      return identityOf(pod) !== identityOf(before) && (await this.isServing(name))
    })
    // Busybox forks for each request, so for a moment there may be two.
    await until(async () => serversOf(before.metadata.uid ?? '') === 1)
  }

  async nothingLeft(): Promise<void> {
    await until(async () => {
      return (await this.node.runtime.listPodSandboxes(signal)).length === 0
    })
    assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), / \S*cni-/)
  }

  /** Waits until containerd is another process, and answers. */
  async containerdAfter(pid: number): Promise<void> {
    await until(() =>
      this.node.containerdPid().then(
        (now) => now !== pid,
        () => false,
      ),
    )
    await until(() =>
      this.node.runtime.conditions(signal).then(
        () => true,
        () => false,
      ),
    )
  }

  async restartContainerd(change: () => void | Promise<void>): Promise<void> {
    const pid = await this.node.containerdPid()
    await change()
    process.kill(pid, 'SIGKILL')
    await this.containerdAfter(pid)
  }
}

/** Counts a pod's running servers, even those that the runtime has lost. */
function serversOf(podUid: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const isServer = readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith('httpd')
      return isServer && readFileSync(`/proc/${name}/cgroup`, 'utf8').includes(podUid)
    } catch {
      // It ended since it was listed.
      return false
    }
  }).length
}

/** Counts the shims of this test's containerd: only processes in its mount namespace count. */
function shims(): number {
  const own = readlinkSync('/proc/self/ns/mnt')
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const isShim = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('containerd-shim')
      return isShim && readlinkSync(`/proc/${name}/ns/mnt`) === own
    } catch {
      // It ended since it was listed.
      return false
    }
  }).length
}

function testInNamespaces(): void {
  let scene: Scene
  let node: RealNode

  before(async () => {
    prepareHost()
    node = await RealNode.start()
    scene = new Scene(node)
  })
  after(() => node[Symbol.asyncDispose]())

  test('network namespaces of others: made before, meanwhile, deleted, mounted over, unmounted', async () => {
    run('ip', 'netns', 'add', 'before')
    const web = await scene.serve('web')
    run('ip', 'netns', 'add', 'meanwhile')
    run('ip', 'netns', 'delete', 'before')
    run('mount', '-t', 'tmpfs', 'tmpfs', '/run/netns')
    await scene.serve('covered')
    await scene.end('web')
    run('umount', '/run/netns')
    run('umount', '--lazy', '/run/netns')
    await scene.end('covered')
    assert.notEqual(web.status?.podIP, undefined)
    await scene.nothingLeft()
    run('rm', '-rf', '/run/netns')
  })

  test('a pod of before an upgrade ends though `ip netns add` has covered its namespace', async () => {
    const config = join(node.directory, 'containerd', 'config.toml')
    const text = readFileSync(config, 'utf8')
    const setting = 'netns_mounts_under_state_dir = '
    const oldText = text.replace(`${setting}true`, `${setting}false`)
    assert.notEqual(oldText, text)
    await scene.restartContainerd(() => node.pinContainerdConfig(oldText))
    await scene.serve('old')
    await scene.serve('killed')
    await scene.restartContainerd(() => node.pinContainerdConfig(undefined))
    const namespaces = readdirSync('/run/netns')
    assert.deepEqual(namespaces.length, 2, 'they are where any program finds them')
    run('ip', 'netns', 'add', 'vpn')
    run('ip', 'netns', 'add', 'vpn2')
    // A pod whose sandbox dies is replaced before it is deleted.
    const killed = await node.pod('killed')
    const [sandbox] = (await node.runtime.listPodSandboxes(signal)).filter(
      ({ metadata }) => metadata.name === 'killed',
    )
    run(
      'ctr',
      '-a',
      '/run/skerry/containerd/containerd.sock',
      '-n',
      'k8s.io',
      'task',
      'kill',
      '-s',
      'KILL',
      sandbox?.id ?? '',
    )
    await scene.replaced(killed)
    await scene.end('killed')
    await scene.end('old')
    await scene.nothingLeft()
    assert.deepEqual(readdirSync('/run/netns').toSorted(), ['vpn', 'vpn2'])
    assert.match(run('ip', 'netns', 'exec', 'vpn', 'ip', 'link'), /lo:/)
  })

  test('bridge deleted, addresses and files of the network plugins lost', async () => {
    const web = await scene.serve('web')
    run('ip', 'link', 'delete', 'skerry0')
    await rm('/run/skerry/kubelet/ipam', { recursive: true })
    await rm(join(node.directory, 'cni'), { recursive: true })
    await scene.healed(web)
    const next = await scene.serve('next')
    assert.notEqual(next.status?.podIP, web.status?.podIP)
    // The plugins' answers from when its sandbox was made are lost.
    run('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib/cni')
    await scene.end('next')
    run('ip', 'address', 'flush', 'dev', 'skerry0')
    await scene.healed(web)
    run('ip', 'link', 'set', 'skerry0', 'down')
    await scene.healed(web)
  })

  test('the cable of a pod deleted: the pod gets another sandbox', async () => {
    const web = await node.pod('web')
    const ports = run('ip', '-o', 'link', 'show', 'master', 'skerry0')
    run('ip', 'link', 'delete', /veth\w+/.exec(ports)?.[0] ?? 'none')
    await scene.replaced(web)
  })

  test('somebody has the name of the bridge: no pod is Ready, and the node says why', async () => {
    const web = await node.pod('web')
    run('ip', 'link', 'delete', 'skerry0')
    run('ip', 'link', 'add', 'skerry0', 'type', 'veth', 'peer', 'name', 'skerry0-peer')
    await until(async () => conditionOf(await node.pod('web'), 'Ready') === 'False')
    await until(async () => !(await node.isReady()))
    const [own] = (await node.api.resource(resources.nodes).list({}, signal)).items
    const ready = own?.status?.conditions?.find(({ type }) => type === 'Ready')
    assert.match(ready?.message ?? '', /^node network not ready: .*skerry0/)
    run('ip', 'link', 'delete', 'skerry0')
    await scene.healed(web)
    await until(() => node.isReady())
  })

  test("somebody has taken the bridge's address: the node says where", async () => {
    const web = await node.pod('web')
    run('ip', 'link', 'add', 'taker', 'type', 'veth', 'peer', 'name', 'taker-peer')
    run('ip', 'address', 'add', '10.99.0.1/32', 'dev', 'taker')
    await until(async () => !(await node.isReady()))
    const [own] = (await node.api.resource(resources.nodes).list({}, signal)).items
    const ready = own?.status?.conditions?.find(({ type }) => type === 'Ready')
    assert.match(ready?.message ?? '', /10\.99\.0\.1.* is on interface taker, too: remove it there/)
    run('ip', 'link', 'delete', 'taker')
    await scene.healed(web)
  })

  test("containerd's run directory lost: pods run again, once", async () => {
    const web = await node.pod('web')
    const pid = await node.containerdPid()
    await rm('/run/skerry/containerd/containerd.sock')
    await rm('/run/skerry/containerd/state/io.containerd.runtime.v2.task', {
      recursive: true,
    }).catch(
      // Containers' root file systems are mounted there: only what is not busy is removed.
      () => undefined,
    )
    await scene.containerdAfter(pid)
    await scene.replaced(web)
  })

  test("the node's copies of its objects lost: nothing is started again", async () => {
    const web = await node.pod('web')
    await node.stopAgent()
    await rm(join(node.directory, 'kubelet', 'store'), { recursive: true })
    node.startAgent({ looksFirst: true })
    await until(async () => existsSync(join(node.directory, 'kubelet', 'store', 'pods')))
    // A pod that the node took for nobody's would have ended by then.
    await scene.serve('later')
    await scene.healed(web)
    await scene.end('later')
  })

  test('cgroups removed: the next pod makes them again', async () => {
    await scene.end('web')
    for (const controller of readdirSync('/sys/fs/cgroup')) {
      const path = join('/sys/fs/cgroup', controller, 'skerry', realNodeName)
      if (existsSync(path)) run('rmdir', path)
    }
    await scene.serve('web')
    await scene.end('web')
    await scene.nothingLeft()
    await scene.restartContainerd(() => undefined)
    await until(async () => shims() === 0)
  })

  test("containerd's root partly lost: images come back, and pods run again, once", async () => {
    const web = await scene.serve('web')
    const root = join(node.directory, 'containerd', 'root')
    await scene.restartContainerd(() =>
      rm(join(root, 'io.containerd.metadata.v1.bolt'), { recursive: true }),
    )
    await scene.replaced(web)
  })
}
