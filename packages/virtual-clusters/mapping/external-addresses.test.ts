import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { parseExternalAddresses } from './external-addresses.ts'
import { createMapping } from './mapping.ts'
import { createNamespaceRule } from './namespace-rule.ts'

const group = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }

/** Every field by which a manifest names an address that traffic shall be taken for. */
const ways: Readonly<Record<string, (address: string) => object>> = {
  'external IP': (address) => ({ spec: { externalIPs: [address] } }),
  'external IP after another': (address) => ({ spec: { externalIPs: ['192.0.2.7', address] } }),
  'load balancer IP': (address) => ({ spec: { type: 'LoadBalancer', loadBalancerIP: address } }),
  'status of a load balancer': (address) => ({
    status: { loadBalancer: { ingress: [{ hostname: 'a' }, { ip: address }] } },
  }),
  ...Object.fromEntries(
    [
      'io.cilium/lb-ipam-ips',
      'kube-vip.io/loadbalancerIPs',
      'lbipam.cilium.io/ips',
      'metallb.io/loadBalancerIPs',
      'metallb.universe.tf/loadBalancerIPs',
      'loxilb.io/secondaryIPs',
      'loxilb.io/staticIP',
      'networking.gke.io/load-balancer-ip-addresses',
      'projectcalico.org/loadBalancerIPs',
      'purelb.io/addresses',
      'service.beta.kubernetes.io/aws-load-balancer-eip-allocations',
      'service.beta.kubernetes.io/azure-load-balancer-ipv4',
      'service.beta.kubernetes.io/azure-load-balancer-ipv6',
      'service.beta.kubernetes.io/azure-pip-name',
    ].map((key) => [
      `annotation ${key}`,
      (address: string) => ({ metadata: { annotations: { [key]: `192.0.2.7, ${address}` } } }),
    ]),
  ),
  Gateway: (address) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    spec: { addresses: [{ type: 'IPAddress', value: address }] },
  }),
}

function mapped(manifest: object): AnyObject {
  const externalAddresses = parseExternalAddresses(['192.0.2.7', '192.0.2.16/28', '2001:db8::/64'])
  const base = { apiVersion: 'v1', kind: 'Service', ...manifest }
  const given: object = 'metadata' in manifest ? (manifest.metadata as object) : {}
  const metadata = { namespace: 'shop', name: 'web', ...given }
  return createMapping(group, { externalAddresses }).toMember({ ...base, metadata })
}

const allowed = ['192.0.2.7', '192.0.2.16', '192.0.2.31', '2001:db8::1']
const refused = [
  '192.0.2.6', // a sibling's node
  '192.0.2.32',
  '10.43.0.1', // the API service
  '10.43.0.10', // the cluster DNS
  '127.0.0.1',
  '169.254.169.254',
  '192.0.2.007',
  '192.0.2.16/28',
  '2001:db8:1::1',
  'example.com',
]

for (const [way, manifest] of Object.entries(ways)) {
  test(`${way}: no service of a virtual cluster takes traffic for an address that its edge does not list`, () => {
    for (const address of allowed) assert.doesNotThrow(() => mapped(manifest(address)), address)
    for (const address of refused) {
      assert.throws(() => mapped(manifest(address)), {
        name: 'MappingRefusal',
        message: new RegExp(
          `takes traffic for ${address.replaceAll('.', '\\.')}, .*externalAddresses`,
        ),
      })
    }
  })
}

test('services that name no address of that sort are mapped, and none is listed by default', () => {
  const spec = { clusterIP: 'None', loadBalancerIP: '', externalIPs: [], type: 'LoadBalancer' }
  assert.doesNotThrow(() => mapped({ spec }))
  const bare = createMapping(group)
  const manifest = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'a', name: 'b' } }
  const named = { ...manifest, spec: { externalIPs: ['192.0.2.7'] } }
  assert.throws(() => bare.toMember(named), { name: 'MappingRefusal' })
})

test('an annotation that nobody has listed asks for no address either, in any form', () => {
  const annotated = (key: string, value: string) => () =>
    mapped({ metadata: { annotations: { [key]: value } } })
  const own = 'example.com/load-balancer-ip'
  for (const value of ['192.0.2.66', '192.0.2.7;192.0.2.66', '["192.0.2.66"]', '2001:db8:1::1']) {
    assert.throws(annotated(own, value), /takes traffic for (192\.0\.2\.66|2001:db8:1::1), /, value)
  }
  assert.throws(annotated('projectcalico.org/loadBalancerIPs', '["192.0.2.66"]'), /192\.0\.2\.66/)
  for (const value of ['192.0.2.7', '["192.0.2.7"]', 'true', 'version 1.2.3', '10.0.0.0/8']) {
    assert.doesNotThrow(annotated(own, value), value)
  }
  const applied = JSON.stringify({ spec: { clusterIPs: ['10.43.0.1', '10.43.0.2', '10.43.0.3'] } })
  assert.doesNotThrow(annotated('kubectl.kubernetes.io/last-applied-configuration', applied))
})
