import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { admissionRequest } from '../testing/admission-request.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { pluginDeps } from '../testing/plugin-deps.ts'
import { typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { createNamespaceLifecycle } from './namespace-lifecycle.ts'
import { createServiceAccountPlugin } from './service-account.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

async function admitPod(spec: object, account: object = {}, metadata: object = {}): Promise<Pod> {
  const objects = new ObjectTable().put(wellKnown.serviceAccounts, {
    metadata: { name: 'default', namespace: 'shop' },
    ...account,
  })
  const plugin = createServiceAccountPlugin(pluginDeps(objects))
  const request = admissionRequest({
    resource: pods,
    object: { metadata: { name: 'web', namespace: 'shop', ...metadata }, spec },
  })
  assert.ok(plugin.handles(request) && request.object)
  await plugin.admit?.(request)
  await plugin.validate?.(request)
  return typed<Pod>(request.object)
}

test('a pod gets the default account and a token where the kubelet of upstream would put it', async () => {
  const { spec } = await admitPod(
    { containers: [{ name: 'a' }, { name: 'b', volumeMounts: [{ name: 'own', mountPath }] }] },
    { imagePullSecrets: [{ name: 'pull' }] },
  )
  assert.equal(spec?.serviceAccountName, 'default')
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }])
  const [volume] = spec.volumes ?? []
  assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/)
  assert.deepEqual(volume?.projected, {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [
            { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
          ],
        },
      },
    ],
  })
  assert.deepEqual(spec.containers[0]?.volumeMounts, [
    { name: volume?.name, readOnly: true, mountPath },
  ])
  assert.deepEqual(spec.containers[1]?.volumeMounts, [{ name: 'own', mountPath }])
})

test('pod first, then account, may opt out of the token', async () => {
  const containers = [{ name: 'a' }]
  const off = await admitPod({ containers }, { automountServiceAccountToken: false })
  assert.equal(off.spec?.volumes, undefined)
  const on = await admitPod(
    { containers, automountServiceAccountToken: true },
    { automountServiceAccountToken: false },
  )
  assert.equal(on.spec?.volumes?.length, 1)
})

test('accounts that are missing and secrets that are not theirs are refused', async () => {
  await assert.rejects(admitPod({ containers: [], serviceAccountName: 'gone' }), {
    code: 403,
    message:
      'pods "web" is forbidden: error looking up service account shop/gone: serviceaccount "gone" not found',
  })
  const strict = {
    metadata: {
      name: 'default',
      namespace: 'shop',
      annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' },
    },
    secrets: [{ name: 'mine' }],
  }
  const volumes = [{ name: 'v', secret: { secretName: 'theirs' } }]
  await assert.rejects(admitPod({ containers: [], volumes }, strict), {
    message:
      'pods "web" is forbidden: volume with secret.secretName="theirs" is not allowed because service account default does not reference that secret',
  })
})

test('a mirror pod is left as it is and may name neither account nor secret', async () => {
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } }
  const pod = await admitPod({ containers: [{ name: 'a' }] }, {}, mirror)
  assert.equal(pod.spec?.serviceAccountName, undefined)
  await assert.rejects(
    admitPod({ containers: [], serviceAccountName: 'default' }, {}, mirror),
    /a mirror pod may not reference service accounts/,
  )
})

test('objects are created only in a living namespace; the first namespaces cannot be deleted', async () => {
  const objects = new ObjectTable()
    .put(wellKnown.namespaces, { metadata: { name: 'shop' }, status: { phase: 'Active' } })
    .put(wellKnown.namespaces, { metadata: { name: 'old' }, status: { phase: 'Terminating' } })
  const plugin = createNamespaceLifecycle(pluginDeps(objects))
  const create = (namespace: string, operation: 'CREATE' | 'UPDATE' = 'CREATE') =>
    plugin.admit?.(
      admissionRequest({
        operation,
        resource: pods,
        object: { metadata: { name: 'web', namespace } },
      }),
    )
  await create('shop')
  await create('old', 'UPDATE')
  await assert.rejects(async () => create('gone'), {
    code: 404,
    message: 'namespaces "gone" not found',
  })
  await assert.rejects(async () => create('old'), {
    code: 403,
    message:
      'pods "web" is forbidden: unable to create new content in namespace old because it is being terminated',
    details: {
      name: 'web',
      kind: 'pods',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace old is being terminated',
          field: 'metadata.namespace',
        },
      ],
    },
  })
  await assert.rejects(
    async () =>
      plugin.admit?.(
        admissionRequest({
          operation: 'DELETE',
          resource: { group: '', version: 'v1', resource: 'namespaces' },
          oldObject: { metadata: { name: 'kube-system' } },
        }),
      ),
    { message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted' },
  )
})
