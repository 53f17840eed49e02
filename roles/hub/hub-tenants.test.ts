/** Proves what a team with one namespace of the hub may write there, with the manifests of docs/howto/tenants.md. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StatusError, type AnyObject } from '@skerry/api'
import { anyObjects, createCluster, resources, type TypedResource } from '@skerry/client'
import {
  clusterPropagationPolicyResource,
  propagationPolicyResource,
  resourceBindingResource,
  workResource,
  type PropagationPolicy,
} from '@skerry/karmada-kinds'
import { parseAllDocuments } from 'yaml'
import { startTestHub } from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'team-tills'

const policies = { group: 'admissionregistration.k8s.io', version: 'v1', isNamespaced: false }
const kinds: Readonly<Record<string, TypedResource<AnyObject>>> = {
  ClusterRole: anyObjects(resources.clusterRoles),
  RoleBinding: anyObjects(resources.roleBindings),
  ValidatingAdmissionPolicy: { ...policies, resource: 'validatingadmissionpolicies' },
  ValidatingAdmissionPolicyBinding: { ...policies, resource: 'validatingadmissionpolicybindings' },
}

async function manifests(): Promise<AnyObject[]> {
  const path = join(import.meta.dirname, '../../docs/howto/tenants.md')
  const text = await readFile(path, 'utf8')
  return [...text.matchAll(/^```yaml\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    // The test docs.test.ts has checked that these blocks are manifests.
    parseAllDocuments(block).map((document) => document.toJS() as AnyObject),
  )
}

function policy(spec: Partial<PropagationPolicy['spec']> = {}): PropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { namespace, generateName: 'web-' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
      placement: { clusterAffinity: { clusterNames: ['shop-7'] } },
      ...spec,
    },
  }
}

const refused: readonly (readonly [Partial<PropagationPolicy['spec']>, RegExp])[] = [
  [{ placement: {} }, /names clusters of shops/],
  [{ placement: { clusterAffinity: { clusterNames: [] } } }, /names clusters of shops/],
  [{ placement: { clusterAffinity: { clusterNames: ['bank'] } } }, /names clusters of shops/],
  [
    { placement: { clusterAffinity: { labelSelector: { matchLabels: { a: 'b' } } } } },
    /names clusters of shops/,
  ],
  [
    { placement: { clusterAffinities: [{ affinityName: 'a', clusterNames: ['shop-7'] }] } },
    /names clusters of shops/,
  ],
  [{ resourceSelectors: [{ apiVersion: 'v1', kind: 'ResourceQuota' }] }, /selects workloads/],
  [{ conflictResolution: 'Overwrite' }, /takes over nothing/],
  [
    { resourceSelectors: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system' }] },
    /must be the same as the namespace of the policy/,
  ],
]

test('a team writes policies for its namespace and the clusters that it may use, and nothing else', async () => {
  await using fleet = await startTestHub()
  const { admin, context } = fleet
  for (const name of [namespace, 'karmada-es-shop-7']) {
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as const
    await admin.resource(resources.namespaces).create(made, soon())
  }
  for (const object of await manifests()) {
    const resource = kinds[object.kind]
    assert.ok(resource, object.kind)
    await admin.resource(resource).create(object, soon())
  }
  using transport = await fleet.as({ commonName: 'ada', organizations: [namespace] })
  const team = createCluster(transport, { ...context, userAgent: 'test' })
  const own = team.resource(propagationPolicyResource)
  await own.create(policy(), soon())
  for (const [spec, why] of refused) {
    await assert.rejects(own.create(policy(spec), soon()), (error: unknown) => {
      assert.ok(error instanceof StatusError)
      assert.match(error.message, why)
      return true
    })
  }
  const { spec } = policy()
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web' }
  const metadata = { namespace, name: 'web' }
  const others: readonly Promise<unknown>[] = [
    own.create({ ...policy(), metadata: { namespace: 'default', name: 'web' } }, soon()),
    team.resource(clusterPropagationPolicyResource).create(
      {
        apiVersion: 'policy.karmada.io/v1alpha1',
        kind: 'ClusterPropagationPolicy',
        metadata: { name: 'web' },
        spec,
      },
      soon(),
    ),
    team.resource(resourceBindingResource).create(
      {
        apiVersion: 'work.karmada.io/v1alpha2',
        kind: 'ResourceBinding',
        metadata,
        spec: { resource },
      },
      soon(),
    ),
    team.resource(workResource).create(
      {
        apiVersion: 'work.karmada.io/v1alpha1',
        kind: 'Work',
        metadata: { namespace: 'karmada-es-shop-7', name: 'web' },
        spec: { workload: { manifests: [] } },
      },
      soon(),
    ),
    team.resource(anyObjects(resources.roleBindings)).create(
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      },
      soon(),
    ),
  ]
  for (const answer of await Promise.allSettled(others)) {
    assert.equal(answer.status, 'rejected')
    assert.ok(answer.reason instanceof StatusError)
    assert.equal(answer.reason.reason, 'Forbidden')
  }
})
