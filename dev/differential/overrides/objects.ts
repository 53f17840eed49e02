import type { AnyObject } from '@skerry/api'

export const memberCluster: AnyObject = {
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'north', labels: { size: 'small' } },
  spec: { syncMode: 'Pull' },
}

export function pod(image: string): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { containers: [{ name: 'web', image }] },
  }
}

export function deployment(): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'shop',
      labels: { tier: 'front', app: 'web' },
      annotations: { 'shop.example/note': 'cloud' },
    },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          initContainers: [{ name: 'first', image: 'registry.example/first:v1' }],
          containers: [
            {
              name: 'web',
              image: 'registry.example/shop/web:v1',
              command: ['/web', 'serve'],
              args: ['-v', '--port=80', '-v'],
            },
            { name: 'side', image: 'side' },
          ],
        },
      },
    },
  }
}

export function job(): AnyObject {
  const { spec } = pod('web:v1')
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { template: { spec } },
  }
}

const appYaml = `# of the cloud
name: "till"
on: yes
version: "1.0"
ratio: 1.5
db:
  host: db.cloud
  port: 5432
features: [a, "b: c", 'true']
text: |
  two
  lines
`

export function config(): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'till', namespace: 'shop' },
    data: {
      'app.yaml': appYaml,
      'app.json': '{"b": 1.5, "db": {"host": "db.cloud"}, "list": [1, 2]}',
      image: 'registry.example/web:v1',
    },
  }
}

export function role(): AnyObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [],
  }
}
