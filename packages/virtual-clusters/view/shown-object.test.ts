import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'
import { createMapping } from '../mapping/mapping.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { shownObject, shownText, type ShownNames } from './shown-object.ts'

const clusterName = 'east'
const group = { clusterName, namespaces: createNamespaceRule({ clusterName }) }
const mapping = createMapping(group, { allowsClusterRights: true, allowsHostAccess: true })
const own = new Map(
  ['shop', 'my-app', 'a'.repeat(63)].map((name) => [group.namespaces.toMember(name), name]),
)
const names: ShownNames = { clusterName, namespace: (member) => own.get(member) }

function manifest(apiVersion: string, kind: string, rest: object = {}): AnyObject {
  return { apiVersion, kind, metadata: { name: 'till', namespace: 'my-app' }, ...rest }
}

function withoutNamespace(apiVersion: string, kind: string, rest: object = {}): AnyObject {
  return { apiVersion, kind, metadata: { name: 'my-till' }, ...rest }
}

const affinity = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', namespaces: ['shop'], namespaceSelector: {} },
    ],
  },
}
const pod = { containers: [{ name: 'a', image: 'a' }], affinity }
const claim = { dataSourceRef: { kind: 'X', name: 'x', namespace: 'shop' }, volumeName: 'my-data' }
const gateway = 'gateway.networking.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'
const subjects = [
  { kind: 'ServiceAccount', name: 'bot', namespace: 'shop' },
  { kind: 'User', name: 'system:serviceaccount:my-app:bot' },
  { kind: 'Group', name: 'system:serviceaccounts:shop' },
  { kind: 'User', name: 'olga' },
]

const manifests: readonly AnyObject[] = [
  manifest('v1', 'Pod', { spec: { ...pod, nodeSelector: { disk: 'ssd' } } }),
  manifest('v1', 'Pod', {
    spec: { ...pod, dnsConfig: { searches: ['web.shop.svc.cluster.local'] } },
  }),
  manifest('apps/v1', 'Deployment', { spec: { template: { spec: pod } } }),
  manifest('batch/v1', 'CronJob', {
    spec: { jobTemplate: { spec: { template: { spec: pod } } } },
  }),
  manifest('apps/v1', 'StatefulSet', {
    spec: { template: { spec: pod }, volumeClaimTemplates: [{ spec: claim }] },
  }),
  manifest('v1', 'PersistentVolumeClaim', { spec: claim }),
  manifest('v1', 'Service', { spec: { type: 'ExternalName', externalName: 'web.shop.svc' } }),
  manifest('v1', 'Service', { spec: { type: 'ExternalName', externalName: 'shop.example.com' } }),
  manifest('v1', 'ConfigMap', { data: { namespace: 'shop', host: 'web.shop-east.svc' } }),
  manifest('networking.k8s.io/v1', 'NetworkPolicy', {
    spec: {
      ingress: [
        {
          from: [
            { namespaceSelector: {} },
            { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
            },
          ],
        },
      ],
    },
  }),
  manifest(rbac, 'RoleBinding', { subjects }),
  manifest('discovery.k8s.io/v1', 'EndpointSlice', {
    endpoints: [{ targetRef: { kind: 'Pod', name: 'p', namespace: 'my-app' } }],
  }),
  manifest('v1', 'Event', { involvedObject: { kind: 'Pod', name: 'p', namespace: 'my-app' } }),
  manifest(gateway, 'Gateway', {
    spec: {
      listeners: [
        { allowedRoutes: { namespaces: { from: 'All' } } },
        {
          allowedRoutes: {
            namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } },
          },
        },
        { allowedRoutes: { namespaces: { from: 'Same' } } },
      ],
    },
  }),
  manifest(gateway, 'HTTPRoute', { spec: { parentRefs: [{ name: 'g', namespace: 'shop' }] } }),
  manifest('example.com/v1', 'Lamp', { spec: { namespace: 'shop-east', message: 'in shop-east' } }),
  withoutNamespace('v1', 'PersistentVolume', {
    spec: { claimRef: { name: 'c', namespace: 'shop' }, azureFile: { secretNamespace: 'my-app' } },
  }),
  withoutNamespace(rbac, 'ClusterRoleBinding', { subjects }),
]

test('a sent object reads as it was written', () => {
  for (const sent of manifests) {
    const { apiVersion, kind } = sent
    const slash = apiVersion.indexOf('/')
    const of = { group: slash < 0 ? '' : apiVersion.slice(0, slash), kind }
    const there = mapping.toMember(sent)
    assert.notDeepEqual(there, sent, kind)
    assert.deepEqual(shownObject(there, of, names), sent, kind)
  }
})

test('namespaces in sentences have their own names, and text that only looks like one stays', () => {
  for (const [text, shown] of [
    ['pods "till" not found in shop-east', 'pods "till" not found in shop'],
    ['quota of my--app-east: used', 'quota of my-app: used'],
    ['shop-east-7d9f, shop-west, workshop-east', 'shop-east-7d9f, shop-west, workshop-east'],
    ['system:serviceaccount:shop-east:bot', 'system:serviceaccount:shop:bot'],
  ] as const) {
    assert.equal(shownText(text, names), shown)
  }
})

test('a node selector of another group, or of none, is shown as it is', () => {
  for (const nodeSelector of [{ [groupLabel]: 'west' }, { disk: 'ssd' }]) {
    const object = { spec: { nodeSelector } }
    assert.deepEqual(shownObject(object, { group: '', kind: 'Pod' }, names), object)
  }
})
