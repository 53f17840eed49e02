import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { offlineKinds } from '@skerry/node-api'
import { callApi, startTestApiServer } from '@skerry/testing'
import { skerry } from '../../../testing/scenes/hub-commands.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const conflicts = '/apis/node.skerry.io/v1alpha1/conflicts'

test('a person lists a conflict, sees both values, and gives the object one of them', async () => {
  const builtin = await builtinKinds()
  await using site = await startTestApiServer({ kinds: [...builtin, ...offlineKinds(builtin)] })
  const admin = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const reply = await callApi(site.transport, { method, path, ...(body ? { body } : {}) })
    assert.ok(reply.status < 300, reply.text)
    return reply.body
  }
  await admin('POST', maps, { metadata: { name: 'a' }, data: { color: 'green', size: 'xl' } })
  const object = { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' }
  const field = { path: '.data.color', steps: ['f:data', 'f:color'], base: '"red"' }
  await admin('POST', conflicts, {
    metadata: { name: 'n1-j-1' },
    spec: {
      reason: 'Clash',
      message: 'the node and the control plane both changed .data.color',
      nodeName: 'n1',
      user: 'system:serviceaccount:default:app',
      operation: 'update',
      object: { ...object, namespace: 'default', name: 'a' },
      winner: 'cloud',
      writtenAt: '2026-01-01T00:00:00.000Z',
      foundAt: '2026-01-01T01:00:00.000Z',
      fields: [{ ...field, edge: '"blue"', cloud: '"green"' }],
    },
  })
  const directory = dirname(site.kubeconfigPath)
  await copyFile(site.kubeconfigPath, join(directory, 'admin.kubeconfig'))
  const at = { directory }
  const listed = await skerry(at, 'conflicts', 'list')
  assert.match(listed.out, /n1-j-1 +ConfigMap default\/a +Clash +cloud +- +n1/, listed.err)
  const seen = await skerry(at, 'conflicts', 'show', 'n1-j-1')
  assert.match(seen.out, /edge: {3}"blue"\n {2}cloud: {2}"green"/, seen.err)
  const chosen = await skerry(at, 'conflicts', 'choose', 'n1-j-1', 'edge')
  assert.match(chosen.out, /ConfigMap default\/a has the chosen values \(edge\)/, chosen.err)
  assert.deepEqual((await admin('GET', `${maps}/a`)).data, { color: 'blue', size: 'xl' })
  const { choice } = (await admin('GET', `${conflicts}/n1-j-1`)).spec
  assert.equal(choice.side, 'edge')
  assert.equal(choice.user, 'kubernetes-admin')
  const none = await skerry(at, 'conflicts', 'show', 'none')
  assert.equal(none.code, 2)
  assert.match(none.err, /Cannot find the conflict none: "skerry conflicts list" shows all/)
})
