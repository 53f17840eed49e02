/** Tests unmodified programs of others against a cluster: helm, and the JavaScript client library. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { unpackClients } from '@skerry/testing'
import { ClusterOnHosts } from './cluster-on-hosts.ts'
import { whyNot } from './prerequisites.ts'

const chart = join(import.meta.dirname, 'charts', 'lantern')

interface Scene {
  cluster: ClusterOnHosts
  /** Runs helm and fails unless it exits with 0. */
  helm: (...args: string[]) => Promise<string>
}

test('programs of others on a site', { skip: await whyNot(), timeout: 300_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  await cluster.addNode(1)
  const { helm: program } = await unpackClients()
  const helm = async (...args: string[]): Promise<string> => {
    const command = [program, '--kubeconfig', cluster.kubeconfig, ...args]
    const result = await cluster.siteHost.run(command, {
      timeoutMs: 120_000,
      env: { HOME: cluster.directory },
    })
    assert.equal(result.exitCode, 0, `helm ${args.join(' ')}: ${result.stderr}${result.stdout}`)
    return result.stdout
  }
  for (const [name, run] of Object.entries(steps)) {
    await t.test(name, async () => {
      try {
        await run({ cluster, helm })
      } catch (error) {
        console.error(await cluster.diagnose())
        throw error
      }
    })
  }
})

const wait = ['--wait', '--timeout', '60s']

async function found(cluster: ClusterOnHosts, key: string): Promise<string> {
  return cluster.kubectl('get', 'configmap', 'night-found', '-o', `jsonpath={.data.${key}}`)
}

/** The steps run in this order: each continues with the release as the last one left it. */
const steps: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async 'helm install: definitions first, hooks, lookups, capabilities'({ cluster, helm }) {
    const output = await helm('install', 'night', chart, ...wait)
    assert.match(output, /STATUS: deployed\nREVISION: 1/)
    assert.equal(await found(cluster, 'colorBefore'), 'none')
    assert.equal(await found(cluster, 'hasIngress'), 'true')
    assert.equal(await found(cluster, 'minor'), '36')
    assert.equal(await cluster.kubectl('logs', 'job/night-pre-install'), 'pre-install white\n')
    const lamp = await cluster.kubectl('get', 'lp', 'night', '-o', 'jsonpath={.spec}')
    assert.equal(lamp, '{"color":"white","watts":5}')
  },
  async 'helm upgrade: the lookup sees the release before, the hook runs'({ cluster, helm }) {
    const values = ['--set', 'color=red', '--set', 'replicas=2']
    const output = await helm('upgrade', 'night', chart, ...values, ...wait)
    assert.match(output, /REVISION: 2/)
    assert.equal(await found(cluster, 'colorBefore'), 'white')
    assert.equal(await cluster.kubectl('logs', 'job/night-post-upgrade'), 'post-upgrade red\n')
    const ready = 'jsonpath={.status.readyReplicas}'
    assert.equal(await cluster.kubectl('get', 'deployment', 'night', '-o', ready), '2')
  },
  async 'helm upgrade: values that the schema refuses change nothing'({ cluster }) {
    const { helm } = await unpackClients()
    const args = ['--kubeconfig', cluster.kubeconfig, 'upgrade', 'night', chart]
    const refused = await cluster.siteHost.run([helm, ...args, '--set', 'color=green'], {
      timeoutMs: 60_000,
      env: { HOME: cluster.directory },
    })
    assert.equal(refused.exitCode, 1)
    assert.match(refused.stderr, /spec\.color: Unsupported value: "green"/)
    assert.equal(await cluster.kubectl('get', 'lp', 'night', '-o', 'jsonpath={.spec.color}'), 'red')
  },
  async 'helm rollback and history'({ cluster, helm }) {
    await helm('rollback', 'night', '1', ...wait)
    assert.equal(
      await cluster.kubectl('get', 'lp', 'night', '-o', 'jsonpath={.spec.color}'),
      'white',
    )
    // helm prints this JSON.
    const history = JSON.parse(await helm('history', 'night', '-o', 'json')) as {
      revision: number
      status: string
    }[]
    assert.deepEqual(
      history.map(({ revision, status }) => `${revision} ${status}`),
      ['1 superseded', '2 superseded', '3 failed', '4 deployed'],
    )
  },
  async 'helm test'({ helm }) {
    assert.match(await helm('test', 'night', '--logs'), /Phase: +Succeeded(?:.|\n)*lit/)
  },
  async '@kubernetes/client-node: informer, apply, exec, log, errors'({ cluster }) {
    await cluster.kubectl(
      'run',
      'shell',
      '--image=skerry-examples/redis:7.0',
      '--command',
      '--',
      'sh',
      '-c',
      'echo first; echo last; trap exit TERM; while true; do sleep 1; done',
    )
    await cluster.kubectl('wait', 'pod/shell', '--for=condition=Ready', '--timeout=60s')
    const script = join(import.meta.dirname, 'client-node-session.ts')
    const command = [process.execPath, script, cluster.kubeconfig, 'shell']
    const result = await cluster.siteHost.run(command, { timeoutMs: 60_000 })
    assert.equal(result.exitCode, 0, result.stderr)
    assert.deepEqual(JSON.parse(result.stdout), {
      watched: ['add red', 'update blue', 'delete blue'],
      applied: ['client-node Apply'],
      executed: { output: 'out\n', status: '3' },
      logged: 'last\n',
      refused: { code: 404, reason: 'NotFound' },
      deployments: 1,
      lamps: 'LampList',
    })
  },
  async 'helm uninstall: the hook runs, the release is gone, definitions stay'({ cluster, helm }) {
    await helm('uninstall', 'night', ...wait)
    assert.equal(await cluster.kubectl('logs', 'job/night-pre-delete'), 'pre-delete white\n')
    assert.equal(await helm('list', '-q'), '')
    const left = await cluster.kubectl('get', 'deployments,configmaps,lamps', '-o', 'name')
    assert.equal(left, 'configmap/kube-root-ca.crt\n')
    await cluster.kubectl('get', 'crd', 'lamps.lantern.example.com')
  },
}
