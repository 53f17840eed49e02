import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { until } from '@skerry/testing'
import { ignoreNotFound } from '../cri/ignore-not-found.ts'
import {
  isRuntimeError,
  type ContainerConfig,
  type ContainerRuntime,
  type ContainerStatus,
  type CreateContainerRequest,
  type NamespaceOption,
  type PodSandboxConfig,
} from '../cri/container-runtime.ts'

export interface RuntimeSubject {
  readonly runtime: ContainerRuntime
  /** The reference of an image that the node has, and that can run `sh -c`. */
  readonly image: string
  readonly logDirectory: string
  readonly cgroupParent: string
}

const { signal } = new AbortController()

/** Lists what the kubelet relies on in a container runtime. Each test makes its own sandboxes and removes them. */
export function runtimeContract(name: string, open: () => RuntimeSubject): void {
  describe(`runtime contract: ${name}`, () => {
    sandboxTests(open)
    lifeTests(open)
    endTests(open)
    goneTests(open)
    imageTests(open)
  })
}

function sandboxTests(open: () => RuntimeSubject): void {
  test('a sandbox is ready with an address, is not ready when stopped, and is gone when removed', async () => {
    const { runtime } = open()
    const config = sandboxOf(open())
    const id = await runtime.runPodSandbox(config, '', signal)
    const running = await runtime.podSandboxStatus(id, signal)
    assert.equal(running.state, 'SANDBOX_READY')
    assert.deepEqual(running.metadata, config.metadata)
    assert.deepEqual(running.labels, config.labels)
    assert.equal(running.ips.length, 1)
    assert.ok(running.createdAt > 0)
    await runtime.stopPodSandbox(id, signal)
    const listed = (await runtime.listPodSandboxes(signal)).find((each) => each.id === id)
    assert.equal(listed?.state, 'SANDBOX_NOTREADY')
    await runtime.removePodSandbox(id, signal)
    await isNotFound(runtime.podSandboxStatus(id, signal))
    assert.ok((await runtime.listPodSandboxes(signal)).every((each) => each.id !== id))
  })

  test('a sandbox takes its containers along when it goes', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const container = await pod.start('sleep 1000')
    await runtime.stopPodSandbox(pod.id, signal)
    assert.equal((await runtime.containerStatus(container, signal)).state, 'CONTAINER_EXITED')
    await runtime.removePodSandbox(pod.id, signal)
    await isNotFound(runtime.containerStatus(container, signal))
    assert.ok((await runtime.listContainers(signal)).every(({ id }) => id !== container))
  })
}

function lifeTests(open: () => RuntimeSubject): void {
  test('a container is created, runs, and ends with its own exit code', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const id = await pod.create('exit 3')
    const created = await runtime.containerStatus(id, signal)
    assert.equal(created.state, 'CONTAINER_CREATED')
    assert.deepEqual([created.startedAt, created.finishedAt], [0, 0])
    await runtime.startContainer(id, signal)
    const ended = await endOf(runtime, id)
    assert.deepEqual([ended.exitCode, ended.reason], [3, 'Error'])
    assert.ok(ended.createdAt > 0)
    assert.ok(ended.startedAt >= ended.createdAt)
    assert.ok(ended.finishedAt >= ended.startedAt)
    assert.deepEqual(ended.labels, { name: 'main' })
  })

  test('a container that ends well is Completed', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const ended = await endOf(runtime, await pod.start('exit 0'))
    assert.deepEqual([ended.exitCode, ended.reason], [0, 'Completed'])
  })

  test('running containers are listed with their sandbox and labels', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const container = await pod.start('sleep 1000')
    const listed = (await runtime.listContainers(signal)).find(({ id }) => id === container)
    assert.equal(listed?.state, 'CONTAINER_RUNNING')
    assert.equal(listed?.podSandboxId, pod.id)
    assert.deepEqual(listed?.labels, { name: 'main' })
  })

  test('a container that runs or has ended is not started again', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const running = await pod.start('sleep 1000')
    await assert.rejects(runtime.startContainer(running, signal), { code: 'Unknown' })
    const ended = await pod.start('exit 0')
    await endOf(runtime, ended)
    await assert.rejects(runtime.startContainer(ended, signal), { code: 'Unknown' })
  })
}

function endTests(open: () => RuntimeSubject): void {
  test('stop ends a container before it answers, and stopping it again changes nothing', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const id = await pod.start('sleep 1000')
    await runtime.stopContainer(id, 1, signal)
    const ended = await runtime.containerStatus(id, signal)
    assert.equal(ended.state, 'CONTAINER_EXITED')
    assert.notEqual(ended.exitCode, 0)
    await runtime.stopContainer(id, 1, signal)
    assert.equal((await runtime.containerStatus(id, signal)).finishedAt, ended.finishedAt)
  })

  test('each watcher of exits hears of one, and the watch rejects with the reason of its signal', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const scope = new AbortController()
    const heard = new Set<string>()
    const watching = runtime.watchExits(({ containerId }) => heard.add(containerId), scope.signal)
    const rejected = assert.rejects(watching, /heard enough/)
    // The watch may begin late: it is a hint, and one of the next ends is heard.
    const ended: string[] = []
    await until(async () => {
      const id = await pod.start('exit 0')
      await endOf(runtime, id)
      ended.push(id)
      return ended.some((each) => heard.has(each))
    })
    scope.abort(new Error('heard enough'))
    await rejected
  })
}

function goneTests(open: () => RuntimeSubject): void {
  test('a removed container is not found, and neither is one that never was', async () => {
    const { runtime } = open()
    await using pod = await startPod(open())
    const id = await pod.start('exit 0')
    await endOf(runtime, id)
    await runtime.removeContainer(id, signal)
    await isNotFound(runtime.containerStatus(id, signal))
    await isNotFound(runtime.startContainer('never-was', signal))
    await isNotFound(runtime.containerStatus('never-was', signal))
    await isNotFound(runtime.podSandboxStatus('never-was', signal))
  })

  test('removing a missing object succeeds, and a sandbox that is gone cannot be stopped', async () => {
    const { runtime } = open()
    await runtime.removeContainer('never-was', signal)
    await runtime.removePodSandbox('never-was', signal)
    await isNotFound(runtime.stopPodSandbox('never-was', signal))
  })

  test('a container is not created in a sandbox that is gone', async () => {
    const { runtime } = open()
    const pod = await startPod(open())
    await pod[Symbol.asyncDispose]()
    await assert.rejects(runtime.createContainer(pod.request('exit 0'), signal), {
      code: 'NotFound',
    })
  })
}

function imageTests(open: () => RuntimeSubject): void {
  test('an image that the node has is found by its reference, and any other is undefined', async () => {
    const { runtime, image } = open()
    const found = await runtime.imageStatus(image, signal)
    assert.ok(found !== undefined && found.id !== '')
    assert.ok((await runtime.listImages(signal)).some(({ id }) => id === found.id))
    assert.equal(await runtime.imageStatus('registry.example/never:was', signal), undefined)
  })

  test('a pull that no registry serves fails with a code', async () => {
    const { runtime } = open()
    await assert.rejects(
      runtime.pullImage('registry.invalid/never:was', undefined, signal),
      (error) => ['Unknown', 'NotFound', 'Unavailable'].some((code) => isOf(error, code)),
    )
  })

  test('the runtime names itself, and says that it is ready', async () => {
    const { runtime } = open()
    assert.notEqual((await runtime.version(signal)).runtimeName, '')
    const conditions = await runtime.conditions(signal)
    assert.equal(conditions.find(({ type }) => type === 'RuntimeReady')?.status, true)
  })
}

function isOf(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

async function isNotFound(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => isRuntimeError(error, 'NotFound'))
}

async function endOf(runtime: ContainerRuntime, id: string): Promise<ContainerStatus> {
  let status = await runtime.containerStatus(id, signal)
  await until(async () => {
    status = await runtime.containerStatus(id, signal)
    return status.state === 'CONTAINER_EXITED'
  })
  return status
}

interface TestPod extends AsyncDisposable {
  readonly id: string
  request(command: string): CreateContainerRequest
  create(command: string): Promise<string>
  /** Creates and starts a container that runs this command. */
  start(command: string): Promise<string>
}

async function startPod(subject: RuntimeSubject): Promise<TestPod> {
  const { runtime, image } = subject
  const sandboxConfig = sandboxOf(subject)
  const id = await runtime.runPodSandbox(sandboxConfig, '', signal)
  let attempt = 0
  const request = (command: string): CreateContainerRequest => {
    attempt += 1
    return { podSandboxId: id, config: containerOf(command, { image, attempt }), sandboxConfig }
  }
  const create = (command: string): Promise<string> =>
    runtime.createContainer(request(command), signal)
  return {
    id,
    request,
    create,
    async start(command) {
      const container = await create(command)
      await runtime.startContainer(container, signal)
      return container
    },
    async [Symbol.asyncDispose]() {
      await ignoreNotFound(runtime.stopPodSandbox(id, signal))
      await runtime.removePodSandbox(id, signal)
    },
  }
}

const namespaceOptions: NamespaceOption = Object.freeze({
  network: 'POD',
  pid: 'CONTAINER',
  ipc: 'POD',
})

function sandboxOf({ logDirectory, cgroupParent }: RuntimeSubject): PodSandboxConfig {
  const uid = randomUUID()
  return {
    metadata: { name: 'contract', uid, namespace: 'default', attempt: 0 },
    hostname: 'contract',
    logDirectory,
    portMappings: [],
    labels: { app: 'contract' },
    annotations: {},
    linux: {
      cgroupParent: `${cgroupParent}/pod${uid}`,
      securityContext: { namespaceOptions, privileged: false },
      sysctls: {},
    },
  }
}

function containerOf(
  command: string,
  { image, attempt }: { image: string; attempt: number },
): ContainerConfig {
  return {
    metadata: { name: 'main', attempt },
    image: { image },
    command: ['sh', '-c', command],
    args: [],
    workingDir: '',
    envs: [],
    mounts: [],
    devices: [],
    cdiDevices: [],
    labels: { name: 'main' },
    annotations: {},
    logPath: `main-${attempt}.log`,
    stdin: false,
    stdinOnce: false,
    tty: false,
    linux: {
      resources: {},
      securityContext: {
        privileged: false,
        namespaceOptions,
        readonlyRootfs: false,
        supplementalGroups: [],
        noNewPrivs: false,
        maskedPaths: [],
        readonlyPaths: [],
      },
    },
  }
}
