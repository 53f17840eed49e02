import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../contract/admission.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { pluginDeps } from '../testing/plugin-deps.ts'
import { createNodeRestriction } from './node-restriction.ts'

/** Upstream's answers to a node's writes are recorded in dev/differential/scripts/node-*.http. */
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

test('a node cannot claim a range of pods as its own', async () => {
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
  // The node sends back what others have written.
  await judge('UPDATE', '10.42.1.0/24', '10.42.1.0/24')
})

test('a node takes no external address away from a service by calling it its own', async () => {
  const services = { group: '', resource: 'services' }
  const objects = new ObjectTable()
    .put(services, {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { externalIPs: ['203.0.113.80'] },
    })
    .put(services, {
      metadata: { namespace: 'shop', name: 'till' },
      status: { loadBalancer: { ingress: [{ hostname: 'till' }, { ip: '203.0.113.81' }] } },
    })
  const { admit } = createNodeRestriction(pluginDeps(objects))
  const nodeAt = (...addresses: string[]) => ({
    metadata: { name: 'n1' },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  })
  const judge = async (before: readonly string[] | undefined, ...after: string[]) => {
    const request = admissionRequest({
      operation: before ? 'UPDATE' : 'CREATE',
      resource: { group: '', version: 'v1', resource: 'nodes' },
      subresource: before ? 'status' : '',
      object: nodeAt(...after),
      ...(before ? { oldObject: nodeAt(...before) } : {}),
      user: node,
    })
    await admit?.(request)
  }
  const own = '192.0.2.1'
  for (const [address, service] of [
    ['203.0.113.80', 'shop/web'],
    ['203.0.113.81', 'shop/till'],
  ] as const) {
    const message = new RegExp(
      `not allowed to take address ${address}, at which service ${service}`,
    )
    await assert.rejects(judge([own], own, address), message)
    await assert.rejects(judge([], address), message)
    // The machine had the address before a service named it, or joins with it: a service may not
    // take a node's address.
    await judge([own, address], own, address)
    await judge(undefined, own, address)
  }
  await judge([own], own, '192.0.2.2')
})
