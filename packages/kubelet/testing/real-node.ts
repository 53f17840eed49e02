import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createMetrics, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { createCluster, resources, type ClusterClient, type Transport } from '@skerry/client'
import { startCopyOf, startTestApiServer, type TestApiServer, until } from '@skerry/testing'
import { endForgottenShims } from '../containerd/end-node-processes.ts'
import {
  superviseContainerd,
  type SupervisedContainerd,
} from '../containerd/supervise-containerd.ts'
import { findMissingPrograms, packagesOf } from '../../../roles/up/system-packages.ts'
import { detectCgroups, removeCgroup } from '../containerd/cgroups.ts'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { dialContainerd } from '../cri/dial-containerd.ts'
import { importArchive } from '../images/import-image.ts'
import { imageLayerOfFiles, ociArchive } from '../images/oci-archive.ts'
import { ensurePauseImage, pauseArchitectures, pauseImage } from '../images/pause-image.ts'
import { runKubelet } from '../run/run-kubelet.ts'

/** The name is unique because cgroups are not namespaced: two runs must not share one. */
export const realNodeName = `real-${process.pid}`
const never = new AbortController().signal
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

const inNamespaces = 'in-namespaces'

async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'needs root'
  const missing = packagesOf(await findMissingPrograms(['node', 'tests']))
  return missing.length > 0 && `needs system packages: apt-get install ${missing.join(' ')}`
}

/** Runs a test file's inner tests as a process in its own network and mount namespaces. */
export async function runOnRealNode(
  fileUrl: string,
  name: string,
  inner: () => void,
): Promise<void> {
  if (process.argv.includes(inNamespaces)) return inner()
  test(name, { skip: await whyNot() }, async () => {
    const file = fileURLToPath(fileUrl)
    const args = ['--net', '--mount', '--propagation', 'private', process.execPath, file]
    // A clean environment is needed, or the inner tests would report in the outer runner's format.
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    const child = spawn('unshare', [...args, inNamespaces], { env, stdio })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(code, 0, output)
  })
}

/** Gives this process what a machine has: call it once, in its own network and mount namespaces. */
export function prepareHost(): void {
  // The program crun refuses a v2 mount next to v1 ones; runc accepts both.
  spawnSync('umount', ['/sys/fs/cgroup/unified'])
  for (const [command, ...args] of [
    ['mount', '-t', 'tmpfs', 'tmpfs', '/run'],
    ['ip', 'link', 'set', 'lo', 'up'],
  ]) {
    const { status, stderr } = spawnSync(command ?? '', args)
    if (status !== 0) throw new Error(`Cannot prepare the host: ${String(stderr)}`)
  }
}

/** A node agent on a real containerd, and a real API server, both in this process. */
export class RealNode implements AsyncDisposable {
  readonly directory: string
  api: ClusterClient
  readonly runtime: ContainerRuntime
  #server: TestApiServer
  readonly #containerd: SupervisedContainerd
  readonly #keeping: Promise<void>
  readonly #stop = new AbortController()
  #agent: { stop: AbortController; done: Promise<void> } | undefined

  static async start(): Promise<RealNode> {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-real-'))
    await mkdir(join(directory, 'cni'), { recursive: true })
    const binary = join(directory, 'containerd-binary')
    await writeFile(binary, binaryScript(directory), { mode: 0o755 })
    const containerd = await superviseContainerd(
      {
        binary,
        dataDirectory: join(directory, 'containerd'),
        runDirectory: '/run/skerry/containerd',
        cniConfDirectory: join(directory, 'cni'),
        cniBinDirectory: '/usr/lib/cni',
        registryDirectory: join(directory, 'registries'),
        sandboxImage: pauseImage,
      },
      deps,
      never,
    )
    const runtime = dialContainerd(containerd.socket)
    const target = { socket: containerd.socket, rootDirectory: directory }
    const loadImages = async (): Promise<void> => {
      await endForgottenShims(runtime, containerd.socket, never)
      await ensurePauseImage(runtime, target, never)
      await importArchive(await busyboxImage(), target, never)
    }
    await loadImages()
    const parts = { containerd, runtime, loadImages }
    const node = new RealNode(directory, parts, await startTestApiServer())
    node.startAgent()
    try {
      await until(() => node.isReady())
      return node
    } catch (error) {
      await node[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(
    directory: string,
    parts: {
      containerd: SupervisedContainerd
      runtime: ContainerRuntime
      loadImages: () => Promise<void>
    },
    server: TestApiServer,
  ) {
    this.directory = directory
    this.runtime = parts.runtime
    this.#containerd = parts.containerd
    this.#server = server
    this.api = createCluster(server.transport, { ...deps, userAgent: 'test' })
    this.#keeping = parts.containerd
      .keepRunning(this.#stop.signal, parts.loadImages)
      .catch(() => undefined)
  }

  async isReady(): Promise<boolean> {
    const { items } = await this.api.resource(resources.nodes).list({}, never)
    return items.some(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    )
  }

  pod(name: string): Promise<Pod> {
    return this.api.resource(resources.pods).get({ namespace: 'default', name }, never)
  }

  /** With `looksFirst`, the API answers only once the agent has seen what runs. */
  startAgent({ looksFirst = false } = {}): void {
    const stop = new AbortController()
    const { cluster, runtime } = looksFirst
      ? this.#awayFirst()
      : { cluster: this.api, runtime: this.runtime }
    const done = runKubelet(
      {
        nodeName: realNodeName,
        nodeIps: () => ['127.0.0.1'],
        dataDirectory: join(this.directory, 'kubelet'),
        runDirectory: '/run/skerry/kubelet',
        logDirectory: join(this.directory, 'logs'),
        network: {
          cniConfDirectory: join(this.directory, 'cni'),
          podCidr: '10.99.0.0/24',
          podBridge: 'skerry0',
        },
      },
      { ...deps, cluster, runtime, metrics: createMetrics() },
      stop.signal,
    )
    this.#agent = { stop, done }
  }

  #awayFirst(): { cluster: ClusterClient; runtime: ContainerRuntime } {
    const { runtime, looked } = watched(this.runtime)
    const transport: Transport = {
      send: async (request, signal) => {
        await looked
        return this.#server.transport.send(request, signal)
      },
    }
    return { cluster: createCluster(transport, { ...deps, userAgent: 'test' }), runtime }
  }

  async stopAgent(): Promise<void> {
    this.#agent?.stop.abort(new Error('stop'))
    await this.#agent?.done
    this.#agent = undefined
  }

  /** Starts the agent again at another API server, which holds a copy of everything. */
  async goToCopy(): Promise<void> {
    await this.stopAgent()
    const copy = await startCopyOf(this.#server)
    await this.#server[Symbol.asyncDispose]()
    this.#server = copy
    this.api = createCluster(copy.transport, { ...deps, userAgent: 'test' })
    this.startAgent()
  }

  /** Sets the configuration of containerd's next start; undefined restores the node's own. */
  async pinContainerdConfig(text: string | undefined): Promise<void> {
    const file = pinnedConfig(this.directory)
    if (text === undefined) await rm(file, { force: true })
    else await writeFile(file, text)
  }

  /** The id of containerd's process. */
  async containerdPid(): Promise<number> {
    const text = await readFile('/run/skerry/containerd/containerd.pid', 'utf8')
    const { pid } = JSON.parse(text) as { pid: number } // written by superviseContainerd
    return pid
  }

  async createPod(name: string, spec: Partial<NonNullable<Pod['spec']>>): Promise<void> {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: {
        nodeName: realNodeName,
        terminationGracePeriodSeconds: 5,
        containers: [],
        ...spec,
      },
    }
    await this.api.resource(resources.pods).create(pod, never)
  }

  /** Returns the container's log so far, without times. */
  async log(pod: Pod, container: string): Promise<string> {
    const { namespace, name, uid } = pod.metadata
    const file = join(this.directory, 'logs', `${namespace}_${name}_${uid}`, container, '0.log')
    const text = await readFile(file, 'utf8')
    return text.replaceAll(/^\S+ std\w+ [FP] /gm, '')
  }

  async exec(pod: Pod, cmd: readonly string[]): Promise<string> {
    const id = pod.status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? ''
    const request = { containerId: id, cmd, timeoutSeconds: 10 }
    const { stdout } = await this.runtime.execSync(request, never)
    return Buffer.from(stdout).toString('utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopAgent()
    this.#stop.abort(new Error('stop'))
    await this.#keeping
    for (const { id } of await this.runtime.listPodSandboxes(never)) {
      await this.runtime.stopPodSandbox(id, never)
      await this.runtime.removePodSandbox(id, never)
    }
    await this.runtime[Symbol.asyncDispose]()
    await this.#containerd.stop()
    await removeCgroup(await detectCgroups(), `/skerry/${realNodeName}`)
    await this.#server[Symbol.asyncDispose]()
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** After this many lists the agent has acted on the first one. */
const looksWanted = 3

function watched(inner: ContainerRuntime): { runtime: ContainerRuntime; looked: Promise<void> } {
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  let looks = 0
  const runtime: ContainerRuntime = {
    ...inner,
    async listPodSandboxes(signal) {
      const found = await inner.listPodSandboxes(signal)
      looks += 1
      if (looks === looksWanted) resolve()
      return found
    },
  }
  return { runtime, looked }
}

function pinnedConfig(directory: string): string {
  return join(directory, 'pinned.toml')
}

/** Returns a script that runs containerd with the configuration that a test has set instead of the node's own. */
function binaryScript(directory: string): string {
  const file = pinnedConfig(directory)
  return `#!/bin/sh\n[ ! -f ${file} ] || set -- --config ${file}\nexec containerd "$@"\n`
}

const commands = ['sh', 'cat', 'echo', 'sleep', 'dd', 'id', 'httpd', 'mkdir', 'hostname', 'true']

async function busyboxImage(): Promise<AsyncIterable<Uint8Array>> {
  const files = await imageLayerOfFiles([
    { path: 'bin/' },
    { path: 'bin/busybox', content: await readFile('/bin/busybox'), mode: 0o755 },
    ...commands.map((name) => ({ path: `bin/${name}`, linkTo: 'busybox' })),
    { path: 'tmp/', mode: 0o1777 },
  ])
  return ociArchive([
    {
      reference: 'docker.io/library/busybox:test',
      architecture: pauseArchitectures[process.arch] ?? 'amd64',
      layers: [files],
      config: { Cmd: ['/bin/sh'], Env: ['PATH=/bin'] },
    },
  ])
}
