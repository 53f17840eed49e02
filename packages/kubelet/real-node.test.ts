import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isStatusError, type ConfigMap, type Secret } from '@skerry/api'
import { resources } from '@skerry/client'
import { until } from '@skerry/testing'
import { overChannels } from './testing/channel-client.ts'
import { RealNode, prepareHost, realNodeName, runOnRealNode } from './testing/real-node.ts'

await runOnRealNode(import.meta.url, 'pods on a real containerd', testInNamespaces)

function testInNamespaces(): void {
  const signal = new AbortController().signal
  let node: RealNode

  before(async () => {
    prepareHost()
    node = await RealNode.start()
  })
  after(() => node[Symbol.asyncDispose]())

  const busybox = (command: string) => ({
    name: 'main',
    image: 'busybox:test',
    command: ['sh', '-c', command],
  })
  const phaseIs = (name: string, phase: string) => async (): Promise<boolean> =>
    (await node.pod(name)).status?.phase === phase

  test('volumes, environment, identity and network reach the container', async () => {
    const configMap: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'default' },
      data: { color: 'blue' },
    }
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'default' },
      data: { pass: Buffer.from('hunter2').toString('base64') },
    }
    await node.api.resource(resources.configMaps).create(configMap, signal)
    await node.api.resource(resources.secrets).create(secret, signal)
    await node.createPod('web', {
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
      initContainers: [
        {
          ...busybox('echo made > /data/file'),
          name: 'init',
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      containers: [
        {
          ...busybox('hostname; id; cat /data/file /sub/x; echo $PASS $IP; sleep 1000'),
          env: [
            { name: 'PASS', valueFrom: { secretKeyRef: { name: 'keys', key: 'pass' } } },
            { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          ],
          readinessProbe: { exec: { command: ['cat', '/data/file'] }, periodSeconds: 1 },
          resources: { limits: { memory: '32Mi', cpu: '500m' } },
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'settings', mountPath: '/settings' },
            { name: 'keys', mountPath: '/keys' },
            { name: 'memory', mountPath: '/memory' },
            { name: 'settings', mountPath: '/sub/x', subPath: 'color' },
          ],
        },
      ],
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'keys', secret: { secretName: 'keys' } },
      ],
    })
    await until(async () => Boolean((await node.pod('web')).status?.containerStatuses?.[0]?.ready))
    const pod = await node.pod('web')
    const ip = pod.status?.podIP ?? ''
    assert.match(ip, /^10\.99\.0\./)
    assert.equal(
      await node.log(pod, 'main'),
      `web\nuid=1000 gid=0 groups=0,2000\nmade\nbluehunter2 ${ip}\n`,
    )
    assert.equal(await node.exec(pod, ['cat', '/keys/pass']), 'hunter2')
  })

  test('a changed config map reaches the running container', async () => {
    const patch = { data: { color: 'green' } }
    const key = { namespace: 'default', name: 'settings' }
    await node.api.resource(resources.configMaps).patch({ ...key, type: 'merge', patch }, signal)
    const pod = await node.pod('web')
    await until(async () => (await node.exec(pod, ['cat', '/settings/color'])).includes('green'))
  })

  test('over v5 channels a command reads the end of its input, and its exit code comes back', async () => {
    const pod = await node.pod('web')
    const containerId = pod.status?.containerStatuses?.[0]?.containerID?.split('//')[1] ?? ''
    const streams = { stdin: true, stdout: true, stderr: true, tty: false }
    const cmd = ['sh', '-c', 'cat; echo ended >&2; exit 7']
    const url = await node.runtime.exec({ containerId, cmd, ...streams }, signal)
    const text = 'x'.repeat(300_000)
    const said = await overChannels({ url, streams }, text)
    assert.equal(said[1], text)
    assert.equal(said[2], 'ended\n')
    assert.match(said[3] ?? '', /"reason":"NonZeroExitCode".*"message":"7"/)
  })

  test('the pod outlives containerd and the agent', async () => {
    const before = (await node.pod('web')).status?.containerStatuses?.[0]?.containerID
    const pid = await node.containerdPid()
    process.kill(pid, 'SIGKILL')
    await until(async () => (await node.containerdPid()) !== pid)
    await node.stopAgent()
    node.startAgent()
    await node.createPod('after', { containers: [busybox('sleep 1000')] })
    await until(phaseIs('after', 'Running'))
    const status = (await node.pod('web')).status?.containerStatuses?.[0]
    assert.equal(status?.containerID, before)
    assert.equal(status?.restartCount, 0)
    assert.equal(status?.ready, true)
  })

  test('a container counts on while its node goes to another control plane and back', async () => {
    const count = 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done'
    await node.createPod('count', { containers: [busybox(count)] })
    await until(phaseIs('count', 'Running'))
    const before = (await node.pod('count')).status?.containerStatuses?.[0]?.containerID
    for (const name of ['there', 'back']) {
      await node.goToCopy()
      await node.createPod(name, { containers: [busybox('sleep 1000')] })
      await until(phaseIs(name, 'Running'))
    }
    const pod = await node.pod('count')
    const { containerID, restartCount } = pod.status?.containerStatuses?.[0] ?? {}
    assert.deepEqual({ containerID, restartCount }, { containerID: before, restartCount: 0 })
    const counted = (await node.log(pod, 'main')).trimEnd().split('\n')
    assert.deepEqual(
      counted,
      counted.map((_, at) => String(at + 1)),
    )
  })

  test('memory beyond the limit ends the container as OOMKilled', async () => {
    await node.createPod('hungry', {
      restartPolicy: 'Never',
      containers: [
        {
          ...busybox('dd if=/dev/zero of=/dev/null bs=64M count=1'),
          resources: { limits: { memory: '16Mi' } },
        },
      ],
    })
    await until(phaseIs('hungry', 'Failed'))
    const [status] = (await node.pod('hungry')).status?.containerStatuses ?? []
    assert.equal(status?.state?.terminated?.reason, 'OOMKilled')
  })

  test('the termination message of a container is in its status', async () => {
    await node.createPod('words', {
      restartPolicy: 'Never',
      containers: [busybox('echo -n goodbye > /dev/termination-log; exit 3')],
    })
    await until(phaseIs('words', 'Failed'))
    const [status] = (await node.pod('words')).status?.containerStatuses ?? []
    const { exitCode, message } = status?.state?.terminated ?? {}
    assert.deepEqual({ exitCode, message }, { exitCode: 3, message: 'goodbye' })
  })

  test('an image is a volume from containerd 2.1 on, and before that the pod has the reason', async () => {
    const volumes = [{ name: 'tools', image: { reference: 'busybox:test' } }]
    const volumeMounts = [{ name: 'tools', mountPath: '/tools' }]
    const main = { ...busybox('/tools/bin/busybox true && ! touch /tools/x'), volumeMounts }
    await node.createPod('imaged', { restartPolicy: 'Never', volumes, containers: [main] })
    const { runtimeVersion } = await node.runtime.version(signal)
    const isOld = /^v?(1|2\.0)\./.test(runtimeVersion)
    const state = await until(async () => {
      const [status] = (await node.pod('imaged')).status?.containerStatuses ?? []
      const { terminated, waiting } = status?.state ?? {}
      return terminated ? `exit ${terminated.exitCode}` : waiting?.message
    })
    if (isOld) assert.match(state, /is an image, which containerd \S+ cannot mount/)
    else assert.equal(state, 'exit 0', 'the image is there, and nobody writes into it')
  })

  test('deleted pods leave no process, mount, cgroup or file behind', async () => {
    const pods = node.api.resource(resources.pods)
    const names = ['web', 'after', 'count', 'there', 'back', 'hungry', 'words', 'imaged']
    for (const name of names) await pods.delete({ namespace: 'default', name }, signal)
    for (const name of names) {
      await until(() =>
        node.pod(name).then(
          () => false,
          (error: unknown) => isStatusError(error, 'NotFound'),
        ),
      )
    }
    await until(async () => {
      const sandboxes = await node.runtime.listPodSandboxes(signal)
      return sandboxes.length === 0
    })
    await until(async () =>
      ['kubelet/pods', 'logs'].every(
        (name) => readdirSync(join(node.directory, name)).length === 0,
      ),
    )
    assert.ok(!readFileSync('/proc/self/mountinfo', 'utf8').includes(`${node.directory}/kubelet`))
    for (const controller of ['memory', 'cpu', '.']) {
      const parent = join('/sys/fs/cgroup', controller, 'skerry', realNodeName)
      if (!existsSync(parent)) continue
      assert.deepEqual(
        readdirSync(parent).filter((name) => name.startsWith('pod')),
        [],
      )
    }
  })
}
