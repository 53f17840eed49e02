import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../contract/admission.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { pluginDeps } from '../testing/plugin-deps.ts'
import { createNodeRestriction } from './node-restriction.ts'

/** Upstream's answers to a node's writes are recorded in differential/scripts/node-*.http. */
const plugin = createNodeRestriction(pluginDeps(new ObjectTable()))
const node = { name: 'system:node:n1', groups: ['system:nodes'], extra: {} }

test('a node writes no request for the certificate of a pod, even where a role lets it', async () => {
  for (const operation of ['CREATE', 'UPDATE', 'DELETE'] satisfies Operation[]) {
    const request = admissionRequest({
      operation,
      resource: {
        group: 'certificates.k8s.io',
        version: 'v1beta1',
        resource: 'podcertificaterequests',
      },
      subresource: '',
      object: { metadata: { name: 'a', namespace: 'shop' }, spec: { nodeName: 'n2' } },
      user: node,
    })
    const judged = (async () => plugin.admit?.(request))()
    await assert.rejects(judged, /nodes of this cluster make no PodCertificateRequests/)
  }
})

test('a node does not say which range of pods is its own', async () => {
  const judge = (operation: Operation, podCIDR: string | undefined, before?: string) => {
    const nodeOf = (range: string | undefined) => ({
      metadata: { name: 'n1' },
      spec: range === undefined ? {} : { podCIDR: range, podCIDRs: [range] },
    })
    const request = admissionRequest({
      operation,
      resource: { group: '', version: 'v1', resource: 'nodes' },
      subresource: '',
      object: nodeOf(podCIDR),
      ...(operation === 'CREATE' ? {} : { oldObject: nodeOf(before) }),
      user: node,
    })
    return (async () => plugin.admit?.(request))()
  }
  const refusal = /node "n1" is not allowed to set its podCIDR/
  await assert.rejects(judge('CREATE', '0.0.0.0/0'), refusal)
  await assert.rejects(judge('UPDATE', '10.42.1.0/24'), refusal)
  await judge('CREATE', undefined)
  // It sends back what others have written.
  await judge('UPDATE', '10.42.1.0/24', '10.42.1.0/24')
})
