import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { status } from '@grpc/grpc-js'
import type { CSIDriver, PersistentVolume, PersistentVolumeClaim, Volume } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import { until } from '@skerry/testing'
import { FakeCsiDriver, type FakeCsiDriverOptions } from '../testing/fake-csi-driver.ts'
import { SimulatedNode } from '../testing/simulated-node.ts'

const signal = new AbortController().signal
const driverName = 'fake.csi.example.com'
const nodeName = 'sim'
const namespace = 'default'
const handle = 'volume-1'

/** A simulated node with a driver behind real sockets. */
class Scene implements AsyncDisposable {
  readonly node: SimulatedNode
  readonly driver: FakeCsiDriver

  static async start(options: FakeCsiDriverOptions = {}): Promise<Scene> {
    const node = await SimulatedNode.start()
    return new Scene(node, await FakeCsiDriver.start(node.dataDirectory, options))
  }

  private constructor(node: SimulatedNode, driver: FakeCsiDriver) {
    this.node = node
    this.driver = driver
  }

  /** Asks in real time, because sockets are real, and lets the node's time pass in between. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    await until(async () => {
      await this.node.pass(0.25)
      return isSo()
    })
  }

  async createDriver(spec: CSIDriver['spec'] = { attachRequired: false }): Promise<void> {
    await this.node.api.resource(resources.csiDrivers).create(
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIDriver',
        metadata: { name: driverName },
        spec,
      },
      signal,
    )
  }

  /** Makes a volume and a claim that are bound to each other. */
  async createVolume(name: string, spec: Partial<PersistentVolume['spec']> = {}): Promise<void> {
    const { api } = this.node
    const claims = api.resource(resources.persistentVolumeClaims)
    const claim: PersistentVolumeClaim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        volumeName: name,
        resources: { requests: { storage: '1Gi' } },
        ...(spec?.volumeMode ? { volumeMode: spec.volumeMode } : {}),
      },
    }
    const { uid } = (await claims.create(claim, signal)).metadata
    const volume: PersistentVolume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        storageClassName: '',
        claimRef: { kind: 'PersistentVolumeClaim', name, namespace, uid: uid ?? '' },
        csi: { driver: driverName, volumeHandle: handle, fsType: 'ext4' },
        ...spec,
      },
    }
    await api.resource(resources.persistentVolumes).create(volume, signal)
    const patch = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }
    await claims.patchStatus({ type: 'merge', namespace, name, patch }, signal)
  }

  async createPod(name: string, volumes: readonly Volume[]): Promise<void> {
    await this.node.createPod(name, { volumes: [...volumes] })
  }

  async isRunning(name: string): Promise<boolean> {
    return (await this.node.pods()).some((line) => line.startsWith(`${name} Running ready`))
  }

  async isGone(name: string): Promise<boolean> {
    return !(await this.node.pods()).some((line) => line.startsWith(`${name} `))
  }

  async uidOf(name: string): Promise<string> {
    const pod = await this.node.api.resource(resources.pods).get({ namespace, name }, signal)
    return pod.metadata.uid ?? ''
  }

  async csiNode() {
    const { items } = await this.node.api.resource(resources.csiNodes).list({}, signal)
    return items.find(({ metadata }) => metadata.name === nodeName)
  }

  /** The API shows an empty list as null. */
  async driversShown() {
    return (await this.csiNode())?.spec.drivers ?? []
  }

  async eventsOf(reason: string): Promise<string[]> {
    const { items } = await this.node.api.resource(resources.events).list({ namespace }, signal)
    return items.filter((event) => event.reason === reason).map(({ message }) => message ?? '')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]()
    await this.driver[Symbol.asyncDispose]()
  }
}

const claimed = (name: string): Volume => ({
  name: 'data',
  persistentVolumeClaim: { claimName: name },
})

test('a driver that registers is in CSINode, annotations and labels, and leaves them when it goes', async () => {
  await using scene = await Scene.start({
    nodeId: 'machine-7',
    topology: { 'topology.example.com/rack': 'r1' },
    volumesMax: 8,
  })
  const { node, driver } = scene
  await scene.until(async () => (await scene.driversShown()).length === 1)
  assert.deepEqual(await scene.driversShown(), [
    {
      name: driverName,
      nodeID: 'machine-7',
      topologyKeys: ['topology.example.com/rack'],
      allocatable: { count: 8 },
    },
  ])
  assert.equal((await scene.csiNode())?.metadata.ownerReferences?.[0]?.kind, 'Node')
  assert.deepEqual(driver.notices, [''])
  const shown = () => node.api.resource(resources.nodes).get({ name: nodeName }, signal)
  await scene.until(
    async () =>
      (await shown()).metadata.annotations?.['csi.volume.kubernetes.io/nodeid'] ===
      `{"${driverName}":"machine-7"}`,
  )
  const { labels, annotations } = (await shown()).metadata
  assert.equal(labels?.['topology.example.com/rack'], 'r1')
  assert.equal(annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'], 'true')
  await driver.stop()
  await scene.until(async () => (await scene.driversShown()).length === 0)
  await scene.until(
    async () =>
      (await shown()).metadata.annotations?.['csi.volume.kubernetes.io/nodeid'] === undefined,
  )
})

for (const { what, options, notice } of [
  {
    what: 'of another type',
    options: { type: 'DevicePlugin' },
    notice: /no handler registered for plugin type: DevicePlugin/,
  },
  { what: 'of another version of CSI', options: { versions: ['0.3.0'] }, notice: /\[0.3.0\]/ },
  { what: 'without a name for the node', options: { nodeId: '' }, notice: /node_id/ },
  {
    what: 'with a topology that cannot be a label',
    options: { topology: { rack: 'not a label' } },
    notice: /the segment "rack" cannot be a label/,
  },
]) {
  test(`a plugin ${what} is refused and learns why`, async () => {
    await using scene = await Scene.start(options)
    await scene.until(() => scene.driver.notices.length > 0)
    assert.match(scene.driver.notices[0] ?? '', notice)
    assert.equal((await scene.driversShown()).length, 0)
  })
}

test('a plugin that never answers holds up no other one', async () => {
  await using scene = await Scene.start()
  await using silent = await FakeCsiDriver.start(scene.node.dataDirectory, { name: 'a.silent' })
  silent.hanging.add('NodeGetInfo')
  await scene.until(async () =>
    (await scene.driversShown()).some(({ name }) => name === driverName),
  )
  assert.deepEqual(silent.notices, [])
})

test('a volume is staged once for all pods of a node, and unstaged after the last of them', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('shared')
  await scene.createPod('one', [claimed('shared')])
  await scene.createPod('two', [claimed('shared')])
  await scene.until(async () => (await scene.isRunning('one')) && (await scene.isRunning('two')))
  const hash = createHash('sha256').update(handle).digest('hex')
  const plugin = join(node.dataDirectory, 'plugins/kubernetes.io/csi', driverName, hash)
  assert.deepEqual([...driver.staged.keys()], [join(plugin, 'globalmount')])
  assert.deepEqual(driver.staged.get(join(plugin, 'globalmount'))?.volumeCapability, {
    accessMode: { mode: 'SINGLE_NODE_WRITER' },
    block: null,
    mount: { fsType: 'ext4', mountFlags: [], volumeMountGroup: '' },
  })
  const target = join(
    node.dataDirectory,
    'pods',
    await scene.uidOf('one'),
    'volumes/kubernetes.io~csi/shared/mount',
  )
  assert.equal(driver.published.get(target)?.stagingTargetPath, join(plugin, 'globalmount'))
  assert.equal(driver.published.size, 2)
  await node.deletePod('one')
  await scene.until(() => scene.isGone('one'))
  assert.equal(driver.published.size, 1)
  assert.equal(driver.staged.size, 1, 'the other pod still has it')
  await node.deletePod('two')
  await scene.until(() => scene.isGone('two'))
  assert.equal(driver.published.size + driver.staged.size, 0)
  assert.equal(existsSync(plugin), false)
})

test('a pod whose driver is missing waits with an event, and starts once the driver is there', async () => {
  await using scene = await Scene.start()
  const { driver } = scene
  await driver.stop()
  await scene.createDriver()
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(async () =>
    (await scene.eventsOf('FailedMount')).some((text) =>
      text.includes(`driver name ${driverName} not found in the list of registered CSI drivers`),
    ),
  )
  await driver.start()
  await scene.until(() => scene.isRunning('web'))
})

test('after a power cut pods come back with their volumes without the control plane', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver({ attachRequired: false, podInfoOnMount: true })
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  node.setCut(true)
  await driver.stop()
  driver.staged.clear()
  driver.published.clear()
  await node.reboot()
  await driver.start()
  await scene.until(() => node.runtime.running().includes('web/main'))
  assert.equal(driver.staged.size, 1)
  const [published] = driver.published.values()
  assert.equal(published?.volumeContext['csi.storage.k8s.io/pod.name'], 'web')
})

test('a pod that is deleted while its driver hangs ends, and the driver is asked to take back everything', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  driver.hanging.add('NodePublishVolume')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => driver.calls.includes('NodePublishVolume'))
  await scene.createPod('other', [])
  await scene.until(() => scene.isRunning('other'))
  await node.deletePod('web')
  await scene.until(() => scene.isGone('web'))
  assert.equal(driver.staged.size, 0)
  assert.ok(driver.calls.includes('NodeUnpublishVolume'))
})

test('an agent that was killed between two calls takes back the volumes of a pod that is gone', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  driver.hanging.add('NodePublishVolume')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => driver.calls.includes('NodePublishVolume'))
  await node.crashAgent()
  driver.hanging.clear()
  assert.equal(driver.staged.size, 1)
  const pods = node.api.resource(resources.pods)
  await pods.delete({ namespace, name: 'web', gracePeriodSeconds: 0 }, signal)
  node.startAgent()
  await scene.until(() => driver.staged.size === 0)
  await scene.until(async () => (await readdir(join(node.dataDirectory, 'pods'))).length === 0)
})

test('a pod stays until its driver has taken back its volume', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  driver.failures.set('NodeUnpublishVolume', status.INTERNAL)
  await node.deletePod('web')
  await scene.until(() => driver.calls.filter((one) => one === 'NodeUnpublishVolume').length > 1)
  assert.equal(driver.staged.size, 1)
  assert.equal(await scene.isGone('web'), false)
  driver.failures.clear()
  await scene.until(() => scene.isGone('web'))
  assert.equal(driver.staged.size, 0)
})

test('files that a driver has left in a volume that it says is gone are not removed', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  const [target = ''] = driver.published.keys()
  await writeFile(join(target, 'precious'), 'x')
  driver.leavesTargets = true
  await node.deletePod('web')
  await scene.until(() => driver.calls.filter((one) => one === 'NodeUnpublishVolume').length > 2)
  assert.equal(await readFile(join(target, 'precious'), 'utf8'), 'x')
  assert.equal(driver.staged.size, 1)
  await rm(join(target, 'precious'))
  driver.leavesTargets = false
  await scene.until(() => scene.isGone('web'))
})

test('secrets reach the driver and neither its records nor events', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver()
  const secret = { namespace, name: 'keys' }
  await node.api.resource(resources.secrets).create(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: secret,
      data: { password: Buffer.from('hidden-word').toString('base64') },
    },
    signal,
  )
  await scene.createVolume('data', {
    csi: {
      driver: driverName,
      volumeHandle: handle,
      nodeStageSecretRef: secret,
      nodePublishSecretRef: secret,
    },
  })
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  for (const request of [...driver.staged.values(), ...driver.published.values()]) {
    assert.deepEqual(request.secrets, { password: 'hidden-word' })
  }
  const plugins = join(node.dataDirectory, 'plugins/kubernetes.io')
  for (const directory of [plugins, join(node.dataDirectory, 'pods')]) {
    const files = await readdir(directory, { recursive: true, withFileTypes: true })
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = await readFile(join(file.parentPath, file.name), 'utf8')
      assert.equal(text.includes('hidden-word'), false, file.name)
    }
  }
})

test('a volume is published only once it is attached, and stays in use until it is unstaged', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver({ attachRequired: true })
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  const name = `kubernetes.io/csi/${driverName}^${handle}`
  const nodes = node.api.resource(resources.nodes)
  const inUse = async (): Promise<readonly string[]> =>
    (await ifThere(nodes.get({ name: nodeName }, signal)))?.status?.volumesInUse ?? []
  await scene.until(async () => (await inUse()).includes(name))
  await node.pass(20)
  assert.equal(driver.staged.size, 0)
  const hash = createHash('sha256').update(`${handle}${driverName}${nodeName}`).digest('hex')
  const attachments = node.api.resource(resources.volumeAttachments)
  await attachments.create(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: `csi-${hash}` },
      spec: { attacher: driverName, nodeName, source: { persistentVolumeName: 'data' } },
    },
    signal,
  )
  const attached = { attached: true, attachmentMetadata: { device: '7' } }
  await attachments.patchStatus(
    { type: 'merge', name: `csi-${hash}`, patch: { status: attached } },
    signal,
  )
  await node.pass(20)
  assert.equal(driver.staged.size, 0, 'the controller has not said so on the node')
  const patch = { status: { volumesAttached: [{ name, devicePath: '' }] } }
  await nodes.patchStatus({ type: 'merge', name: nodeName, patch }, signal)
  await scene.until(() => scene.isRunning('web'))
  assert.deepEqual([...driver.staged.values()][0]?.publishContext, { device: '7' })
  driver.failures.set('NodeUnstageVolume', status.INTERNAL)
  await node.deletePod('web')
  await scene.until(() => driver.calls.includes('NodeUnstageVolume'))
  assert.deepEqual(await inUse(), [name])
  driver.failures.clear()
  await scene.until(async () => (await scene.isGone('web')) && (await inUse()).length === 0)
})

test('a volume in a pod is published without being staged, if its driver offers that', async () => {
  await using scene = await Scene.start()
  const { node, driver } = scene
  await scene.createDriver({ volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true })
  const inline = { driver: driverName, volumeAttributes: { size: '1Mi' } }
  await scene.createPod('web', [{ name: 'scratch', csi: inline }])
  await scene.until(() => scene.isRunning('web'))
  assert.equal(driver.staged.size, 0)
  const [published] = driver.published.values()
  const uid = await scene.uidOf('web')
  const hash = createHash('sha256').update(`${uid}scratch`).digest('hex')
  assert.equal(published?.volumeId, `csi-${hash}`)
  assert.deepEqual(published?.volumeContext, {
    size: '1Mi',
    'csi.storage.k8s.io/ephemeral': 'true',
    'csi.storage.k8s.io/pod.name': 'web',
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': '',
  })
  await node.deletePod('web')
  await scene.until(() => scene.isGone('web'))
  assert.equal(driver.published.size, 0)
})

for (const { policy, group } of [
  { policy: 'File', group: 4321 },
  { policy: 'ReadWriteOnceWithFSType', group: 4321 },
  { policy: 'None', group: 0 },
]) {
  test(`fsGroupPolicy ${policy} gives the volume to group ${group}`, async () => {
    await using scene = await Scene.start()
    await scene.createDriver({ attachRequired: false, fsGroupPolicy: policy })
    await scene.createVolume('data')
    await scene.node.createPod('web', {
      volumes: [claimed('data')],
      securityContext: { fsGroup: 4321 },
    })
    await scene.until(() => scene.isRunning('web'))
    const [target = ''] = scene.driver.published.keys()
    assert.equal((await stat(target)).gid, group)
  })
}

test('a volume that has grown is expanded on the node, and its claim says so', async () => {
  await using scene = await Scene.start({
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
  })
  const { node, driver } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  const volumes = node.api.resource(resources.persistentVolumes)
  const grown = { spec: { capacity: { storage: '2Gi' } } }
  await volumes.patch({ type: 'merge', name: 'data', patch: grown }, signal)
  const claims = node.api.resource(resources.persistentVolumeClaims)
  const now = new Date(0).toISOString()
  const condition = {
    type: 'FileSystemResizePending',
    status: 'True',
    lastTransitionTime: now,
    lastProbeTime: now,
  }
  await claims.patchStatus(
    { type: 'merge', namespace, name: 'data', patch: { status: { conditions: [condition] } } },
    signal,
  )
  const claim = () => claims.get({ namespace, name: 'data' }, signal)
  await scene.until(async () => (await claim()).status?.capacity?.['storage'] === '2Gi')
  assert.deepEqual((await claim()).status?.conditions ?? [], [])
  assert.deepEqual(driver.expansions, [`${handle} ${2 * 1024 ** 3}`])
  await node.pass(60)
  assert.equal(driver.expansions.length, 1)
})

test('a failed expansion is an event, and the pod runs', async () => {
  await using scene = await Scene.start({
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
  })
  await scene.createDriver()
  await scene.createVolume('data', { capacity: { storage: '2Gi' } })
  scene.driver.failures.set('NodeExpandVolume', status.INTERNAL)
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  await scene.until(async () => (await scene.eventsOf('VolumeResizeFailed')).length > 0)
  scene.driver.failures.clear()
  await scene.until(() => scene.driver.expansions.length > 0)
})

test('a driver that asks for it is asked to publish again from time to time', async () => {
  await using scene = await Scene.start()
  const { driver } = scene
  await scene.createDriver({ attachRequired: false, requiresRepublish: true })
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  await scene.until(() => scene.isRunning('web'))
  const publishedTimes = (): number =>
    driver.calls.filter((call) => call === 'NodePublishVolume').length
  const before = publishedTimes()
  await scene.until(() => publishedTimes() > before)
})

test('the use of a volume is in the metrics of the node under its claim', async () => {
  await using scene = await Scene.start({
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS'],
  })
  const { node } = scene
  await scene.createDriver()
  await scene.createVolume('data')
  await scene.createPod('web', [claimed('data')])
  const line = `kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="data"} 40`
  await scene.until(async () => (await node.metrics.text()).includes(line))
  await node.deletePod('web')
  await scene.until(() => scene.isGone('web'))
  await scene.until(async () => !(await node.metrics.text()).includes('persistentvolumeclaim='))
})
