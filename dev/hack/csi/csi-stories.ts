import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { driverName, image, type CsiScene } from './csi-scene.ts'
import { snapshotDefinitions, type CsiProgram } from './csi-programs.ts'

export interface CsiStory {
  readonly programs: readonly CsiProgram[]
  readonly play: (scene: CsiScene) => Promise<void>
}

const onNode: readonly CsiProgram[] = ['hostpathplugin', 'node-driver-registrar']
const forVolumes: readonly CsiProgram[] = [...onNode, 'csi-provisioner', 'csi-attacher']

/** The stories in their order; each leaves nothing behind but programs that run. */
export const csiStories: Readonly<Record<string, CsiStory>> = {
  inline: { programs: onNode, play: playInline },
  reboot: { programs: onNode, play: playReboot },
  volume: { programs: [...forVolumes, 'csi-resizer'], play: playVolume },
  block: { programs: forVolumes, play: playBlock },
  snapshot: {
    programs: [...forVolumes, 'csi-snapshotter', 'snapshot-controller'],
    play: playSnapshot,
  },
}

const inlineVolume = `{ name: data, csi: { driver: ${driverName}, volumeAttributes: { size: 1Mi } } }`

function podOf(name: string, volume: string, extra = ''): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  securityContext: { fsGroup: 4321 }
  containers:
    - name: main
      image: ${image}
      command: [sleep, '1000000']
      ${extra === '' ? 'volumeMounts: [{ name: data, mountPath: /data }]' : extra}
  volumes: [${volume}]
`
}

const claimed = (name: string): string =>
  `{ name: data, persistentVolumeClaim: { claimName: ${name} } }`

function claimOf(name: string, more = ''): string {
  return `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: default }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: hostpath
  resources: { requests: { storage: 64Mi } }
  ${more}
`
}

const storageClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: hostpath }
provisioner: ${driverName}
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
`

async function playInline(scene: CsiScene): Promise<void> {
  await scene.cluster.apply(podOf('inline', inlineVolume))
  await scene.untilReady('inline')
  assert.equal(await scene.inPod('inline', 'echo kept > /data/file && cat /data/file'), 'kept')
  assert.equal(await scene.inPod('inline', 'stat -c %g /data'), '4321')
  assert.equal((await scene.mounts()).length, 1)
  await scene.removePod('inline')
  assert.deepEqual(await scene.mounts(), [])
}

/** The power goes while the site is away: the driver's pod comes back first, then those with its volumes. */
async function playReboot(scene: CsiScene): Promise<void> {
  const { cluster, node } = scene
  await cluster.apply(podOf('inline', inlineVolume))
  await scene.untilReady('inline')
  await scene.inPod('inline', 'echo kept > /data/file && sync')
  await cluster.siteHost.cut()
  await node.host.reboot()
  await node.role.start()
  await scene.until('the volume after the reboot', async () => {
    const [mount] = await scene.mounts()
    if (mount === undefined) return false
    const target = mount.split(' ')[1] ?? ''
    const { stdout } = await node.host.run(['cat', join(target, 'file')])
    return stdout.trim() === 'kept'
  })
  await cluster.siteHost.restore()
  await scene.until('the node to be heard of', async () => {
    const at =
      'jsonpath={.status.containerStatuses[0].restartCount}{.status.containerStatuses[0].ready}'
    return (await cluster.kubectl('get', 'pod', 'inline', '-o', at)) === '1true'
  })
  assert.equal(await scene.inPod('inline', 'cat /data/file'), 'kept')
  await scene.removePod('inline')
  assert.deepEqual(await scene.mounts(), [])
}

async function playVolume(scene: CsiScene): Promise<void> {
  const { cluster } = scene
  await startProvisioning(scene)
  await scene.startSidecar('csi-resizer', `--csi-address=${scene.socket}`)
  await cluster.apply(storageClass)
  await cluster.apply(claimOf('data'))
  await cluster.apply(podOf('web', claimed('data')))
  await scene.untilReady('web')
  assert.equal(await scene.inPod('web', 'echo kept > /data/file && cat /data/file'), 'kept')
  const attached = await cluster.kubectl('get', 'volumeattachment', '-o', 'name')
  assert.equal(attached.trim().split('\n').length, 1)
  const size = { spec: { resources: { requests: { storage: '128Mi' } } } }
  await cluster.kubectl('patch', 'pvc', 'data', '--patch', JSON.stringify(size))
  await scene.until('the claim to have grown', async () => {
    const status = await cluster.kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status}')
    return status.includes('"storage":"128Mi"') && !status.includes('FileSystemResizePending')
  })
  await scene.removePod('web')
  assert.deepEqual(await scene.mounts(), [])
  await scene.until(
    'the volume to be detached',
    async () => (await cluster.kubectl('get', 'volumeattachment', '-o', 'name')) === '',
  )
  await cluster.apply(podOf('web', claimed('data')))
  await scene.untilReady('web')
  assert.equal(await scene.inPod('web', 'cat /data/file'), 'kept')
  await scene.removePod('web')
  await removeClaim(scene, 'data')
}

async function playBlock(scene: CsiScene): Promise<void> {
  const { cluster } = scene
  await startProvisioning(scene)
  await cluster.apply(storageClass)
  await cluster.apply(claimOf('disk', 'volumeMode: Block'))
  // Devices belong to root.
  const device = `securityContext: { runAsUser: 0 }
      volumeDevices: [{ name: data, devicePath: /dev/disk }]`
  await cluster.apply(podOf('web', claimed('disk'), device))
  await scene.untilReady('web')
  const script = 'test -b /dev/disk && echo kept | dd of=/dev/disk conv=sync 2> /dev/null'
  await scene.inPod('web', script)
  assert.equal(await scene.inPod('web', 'head -c 4 /dev/disk'), 'kept')
  await scene.removePod('web')
  await removeClaim(scene, 'disk')
}

async function playSnapshot(scene: CsiScene): Promise<void> {
  const { cluster } = scene
  await startProvisioning(scene)
  await applySnapshotDefinitions(scene)
  await scene.startSidecar('snapshot-controller')
  await scene.startSidecar('csi-snapshotter', `--csi-address=${scene.socket}`)
  await cluster.apply(storageClass)
  await cluster.apply(claimOf('data'))
  await cluster.apply(podOf('web', claimed('data')))
  await scene.untilReady('web')
  await scene.inPod('web', 'echo kept > /data/file && sync')
  await cluster.apply(`
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: { name: hostpath }
driver: ${driverName}
deletionPolicy: Delete
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: { name: yesterday, namespace: default }
spec: { volumeSnapshotClassName: hostpath, source: { persistentVolumeClaimName: data } }
`)
  await scene.until('the snapshot to be ready', async () => {
    const path = 'jsonpath={.status.readyToUse}'
    return (await cluster.kubectl('get', 'volumesnapshot', 'yesterday', '-o', path)) === 'true'
  })
  await scene.inPod('web', 'echo lost > /data/file')
  const source = '{ apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: yesterday }'
  await cluster.apply(claimOf('restored', `dataSource: ${source}`))
  await cluster.apply(podOf('reader', claimed('restored')))
  await scene.untilReady('reader')
  assert.equal(await scene.inPod('reader', 'cat /data/file'), 'kept')
  await scene.removePod('reader')
  await scene.removePod('web')
  await cluster.kubectl('delete', 'volumesnapshot', 'yesterday', '--timeout=60s')
  await removeClaim(scene, 'restored')
  await removeClaim(scene, 'data')
}

async function applySnapshotDefinitions({ cluster }: CsiScene): Promise<void> {
  const directory = snapshotDefinitions()
  const names = (await readdir(directory)).filter((name) =>
    /^snapshot\.storage\.k8s\.io_.*\.yaml$/.test(name),
  )
  for (const name of names) await cluster.kubectl('apply', '-f', join(directory, name))
  await cluster.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s')
}

/** Starts the provisioner and the attacher, once. */
async function startProvisioning(scene: CsiScene): Promise<void> {
  if (scene.cluster.roles.some(({ name }) => name === 'csi-provisioner')) return
  const address = `--csi-address=${scene.socket}`
  await scene.startSidecar('csi-provisioner', address, '--feature-gates=Topology=true')
  await scene.startSidecar('csi-attacher', address)
}

async function removeClaim({ cluster }: CsiScene, name: string): Promise<void> {
  await cluster.kubectl('delete', 'pvc', name, '--timeout=60s')
  await cluster.waitFor('its volume to be deleted', async () => {
    const path = `jsonpath={.items[?(@.spec.claimRef.name=="${name}")].metadata.name}`
    return (await cluster.kubectl('get', 'pv', '-o', path)) === '' ? true : undefined
  })
}
