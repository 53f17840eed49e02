import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ifThere, resources } from '@skerry/client'
import { edgeClusterResource } from '@skerry/provisioning'
import { skerry, startCommandedHub, type Ended } from '../../../testing/scenes/hub-commands.ts'
import type { TestHub } from '../../../testing/scenes/test-fleet.ts'
import { until } from '../../../testing/until.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const key = { namespace: 'default', name: 'branch-8' }
const imports = ['import', 'edge-cluster', 'branch-8']
const manifest = ['edge-cluster', 'join-manifest', 'branch-8']

const found = ({ admin }: TestHub) => ifThere(admin.resource(edgeClusterResource).get(key, soon()))

async function untilJoinable(fleet: TestHub): Promise<void> {
  const secret = { ...key, name: 'branch-8-join' }
  await until(async () => ifThere(fleet.admin.resource(resources.secrets).get(secret, soon())))
}

function ended({ code, out, err }: Ended): [number, string, string] {
  return [code, out, err]
}

test('an import is checked by a dry run, made, and its manifest printed for kubectl and for programs', async () => {
  await using fleet = await startCommandedHub()
  const dry = await skerry(fleet, ...imports, '--dry-run', '--apply-works')
  assert.deepEqual([dry.code, dry.err], [0, ''])
  assert.match(dry.out, /^# Nothing was made: this is a dry run\.\n[^]*applyWorks: true/)
  assert.equal(await found(fleet), undefined)

  const made = await skerry(fleet, ...imports, '--no-wait', '--allow-service', 'shop/till:80')
  assert.deepEqual([made.code, made.err], [0, ''])
  const line =
    /^ {2}skerry edge-cluster join-manifest branch-8 \| kubectl --context <cluster> apply/m
  assert.match(made.out, line)
  assert.deepEqual((await found(fleet))?.spec.import, { allowServices: ['shop/till:80'] })

  await untilJoinable(fleet)
  const printed = await skerry(fleet, ...manifest)
  assert.deepEqual([printed.code, printed.err], [0, ''])
  assert.match(printed.out, /^kind: Deployment$/m)
  const json = JSON.parse((await skerry(fleet, ...manifest, '-o', 'json')).out)
  assert.equal(json.name, 'branch-8')
  assert.ok(Date.parse(json.expires) > Date.now())
  const command = await skerry(fleet, ...manifest, '--command')
  assert.equal(command.out, `(umask 077 && echo ${json.token} > token) && ${json.command}\n`)
  assert.ok(!JSON.stringify(await found(fleet)).includes(json.token.slice(7)))

  const shown = await skerry(fleet, 'edge-cluster', 'get', 'branch-8')
  assert.deepEqual([shown.code, shown.err], [0, ''])
  assert.match(shown.out, /AwaitAgent|ClusterReady|agent/)
  const again = await skerry(fleet, ...imports, '--no-wait', '-o', 'json')
  assert.deepEqual([again.code, again.err], [0, ''])
  assert.equal(JSON.parse(again.out).metadata.name, 'branch-8')

  const gone = await skerry(fleet, 'edge-cluster', 'delete', 'branch-8', '--wait')
  assert.deepEqual([gone.code, gone.err], [0, ''])
  assert.equal(await found(fleet), undefined)
  const { items } = await fleet.admin.resource(resources.secrets).list({}, soon())
  const left = items.filter(
    ({ metadata, type }) =>
      metadata.name === 'branch-8-join' || type === 'bootstrap.kubernetes.io/token',
  )
  assert.deepEqual(left, [])
})

test('an import with a wrong field, or of a cluster that was made of machines, makes nothing', async () => {
  await using fleet = await startCommandedHub()
  const wrong = await skerry(fleet, ...imports, '--no-wait', '--allow-service', '../etc:80')
  assert.deepEqual([wrong.code, wrong.out], [2, ''])
  assert.match(
    wrong.err,
    /^skerry: Cannot import edge cluster branch-8: .*spec\.import\.allowServices/,
  )
  const none = ended(await skerry(fleet, ...manifest))
  assert.equal(none[0] === 0, false)
  assert.match(none[2], /^skerry: .*branch-8/)
  const edge = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: key,
    spec: {
      machines: [
        { addresses: ['192.0.2.11'], role: 'Master' as const, credentials: { name: 'none' } },
      ],
      paused: true,
    },
  }
  await fleet.admin.resource(edgeClusterResource).create(edge, soon())
  const made = await skerry(fleet, ...imports, '--no-wait')
  assert.deepEqual([made.code, made.out], [2, ''])
  assert.match(made.err, /there is one of that name that was made of machines/)
  const join = await skerry(fleet, ...manifest)
  assert.deepEqual([join.code, join.out], [1, ''])
  assert.match(join.err, /there is no Secret branch-8-join/)
})
