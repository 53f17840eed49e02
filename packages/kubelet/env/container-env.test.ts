import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, Container, Pod, Secret, Service } from '@skerry/api'
import { StartError } from '../pod/start-error.ts'
import { containerEnv, type EnvContext } from './container-env.ts'
import { expand } from './expand.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u1',
    labels: { app: 'web', tier: 'front "end"' },
    annotations: { 'team/owner': 'ann' },
  },
  spec: { nodeName: 'n1', serviceAccountName: 'sa', containers: [] },
}
const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { color: 'blue', SIZE: '7' },
}
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys' },
  data: { pass: Buffer.from('hünter2').toString('base64') },
}
const service = (
  namespace: string,
  name: string,
  fields: Partial<Service['spec']> = {},
): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: {
    clusterIP: '10.1.0.1',
    ports: [{ port: 80 }, { port: 53, name: 'dns', protocol: 'UDP' }],
    ...fields,
  },
})

function envOf(container: Partial<Container>, context: Partial<EnvContext> = {}) {
  return Object.fromEntries(
    containerEnv(
      { name: 'main', ...container },
      {
        pod,
        podIps: ['10.0.0.9', 'fd00::9'],
        hostIps: ['192.168.1.5'],
        configMap: (name) => (name === 'settings' ? configMap : undefined),
        secret: (name) => (name === 'keys' ? secret : undefined),
        services: [],
        allocatable: { cpuMilli: 2000, memoryBytes: 1024 ** 3, ephemeralStorageBytes: 1024 ** 3 },
        ...context,
      },
    ),
  )
}

const field = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } })
const resource = (name: string, divisor?: string) => ({
  valueFrom: { resourceFieldRef: { resource: name, ...(divisor ? { divisor } : {}) } },
})

const values: [string, NonNullable<Container['env']>, Record<string, string>][] = [
  [
    'plain and expanded',
    [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)-$$(A)-$(NO)' },
    ],
    { A: '1', B: '1-$(A)-$(NO)' },
  ],
  [
    'a later variable is not seen by an earlier one',
    [
      { name: 'A', value: '$(B)' },
      { name: 'B', value: '2' },
    ],
    { A: '$(B)', B: '2' },
  ],
  [
    'config map key',
    [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } }],
    { A: 'blue' },
  ],
  [
    'secret key, as text',
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'pass' } } }],
    { A: 'hünter2' },
  ],
  [
    'an optional key that is not there sets nothing',
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'no', key: 'x', optional: true } } }],
    {},
  ],
  [
    'fields of the pod',
    [
      { name: 'NAME', ...field('metadata.name') },
      { name: 'OWNER', ...field("metadata.annotations['team/owner']") },
      { name: 'NODE', ...field('spec.nodeName') },
      { name: 'IPS', ...field('status.podIPs') },
      { name: 'HOST', ...field('status.hostIP') },
    ],
    { NAME: 'web', OWNER: 'ann', NODE: 'n1', IPS: '10.0.0.9,fd00::9', HOST: '192.168.1.5' },
  ],
  [
    'resources, rounded up; without a limit what the node has',
    [
      { name: 'CPU', ...resource('limits.cpu') },
      { name: 'CPU_M', ...resource('requests.cpu', '1m') },
      { name: 'MEM_MI', ...resource('limits.memory', '1Mi') },
    ],
    { CPU: '2', CPU_M: '250', MEM_MI: '64' },
  ],
]

for (const [name, env, expected] of values) {
  test(`variables: ${name}`, () => {
    const resources = { requests: { cpu: '250m' }, limits: { memory: '64Mi' } }
    assert.deepEqual(envOf({ env, resources }), expected)
  })
}

test('envFrom comes first, with its prefix; env wins', () => {
  const env = envOf({
    envFrom: [
      { configMapRef: { name: 'settings' }, prefix: 'P_' },
      { secretRef: { name: 'keys' } },
    ],
    env: [{ name: 'P_SIZE', value: 'own' }],
  })
  assert.deepEqual(env, { P_color: 'blue', P_SIZE: 'own', pass: 'hünter2' })
})

const refusals: [Partial<Container>, string][] = [
  [
    { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'no', key: 'x' } } }] },
    'configmap "no" not found',
  ],
  [
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'x' } } }] },
    "couldn't find key x in Secret shop/keys",
  ],
  [{ envFrom: [{ secretRef: { name: 'no' } }] }, 'secret "no" not found'],
]

for (const [container, message] of refusals) {
  test(`refused: ${message}`, () => {
    assert.throws(
      () => envOf(container),
      (error: unknown) =>
        error instanceof StartError &&
        error.reason === 'CreateContainerConfigError' &&
        error.message === message,
    )
  })
}

test('variables name the services of the namespace and the API itself, not headless ones', () => {
  const services = [
    service('shop', 'my-db'),
    service('shop', 'headless', { clusterIP: 'None' }),
    service('default', 'kubernetes', { ports: [{ port: 443, name: 'https' }] }),
    service('default', 'other'),
  ]
  assert.deepEqual(envOf({}, { services }), {
    KUBERNETES_SERVICE_HOST: '10.1.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    KUBERNETES_SERVICE_PORT_HTTPS: '443',
    KUBERNETES_PORT: 'tcp://10.1.0.1:443',
    KUBERNETES_PORT_443_TCP: 'tcp://10.1.0.1:443',
    KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
    KUBERNETES_PORT_443_TCP_PORT: '443',
    KUBERNETES_PORT_443_TCP_ADDR: '10.1.0.1',
    MY_DB_SERVICE_HOST: '10.1.0.1',
    MY_DB_SERVICE_PORT: '80',
    MY_DB_SERVICE_PORT_DNS: '53',
    MY_DB_PORT: 'tcp://10.1.0.1:80',
    MY_DB_PORT_80_TCP: 'tcp://10.1.0.1:80',
    MY_DB_PORT_80_TCP_PROTO: 'tcp',
    MY_DB_PORT_80_TCP_PORT: '80',
    MY_DB_PORT_80_TCP_ADDR: '10.1.0.1',
    MY_DB_PORT_53_UDP: 'udp://10.1.0.1:53',
    MY_DB_PORT_53_UDP_PROTO: 'udp',
    MY_DB_PORT_53_UDP_PORT: '53',
    MY_DB_PORT_53_UDP_ADDR: '10.1.0.1',
  })
})

test('a pod that wants no service links still finds the API', () => {
  const spec = { ...pod.spec, containers: [], enableServiceLinks: false }
  const services = [service('shop', 'db'), service('default', 'kubernetes')]
  const env = envOf({}, { pod: { ...pod, spec }, services })
  assert.ok('KUBERNETES_SERVICE_HOST' in env)
  assert.ok(!('DB_SERVICE_HOST' in env))
})

test('expansion leaves unknown references unchanged', () => {
  const value = (name: string): string | undefined => (name === 'A' ? 'x' : undefined)
  const texts = ['$(A)', '$$(A)', '$$$(A)', '$A', '$(', '$(B)'].map((text) => expand(text, value))
  assert.deepEqual(texts, ['x', '$(A)', '$x', '$A', '$(', '$(B)'])
})

test('pods of a node with an API of its own find it where clients look for the API', () => {
  const api = { host: '169.254.20.11', port: 6444 }
  const env = envOf({}, { services: [service('default', 'kubernetes')], api })
  assert.equal(env['KUBERNETES_SERVICE_HOST'], '169.254.20.11')
  assert.equal(env['KUBERNETES_SERVICE_PORT'], '6444')
  assert.equal(env['KUBERNETES_SERVICE_PORT_HTTPS'], '6444')
  assert.equal(env['KUBERNETES_PORT'], 'tcp://169.254.20.11:6444')
  assert.equal(env['KUBERNETES_PORT_80_TCP'], undefined)
  assert.equal(envOf({}, { api })['KUBERNETES_SERVICE_HOST'], '169.254.20.11')
})
