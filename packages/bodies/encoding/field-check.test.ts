import assert from 'node:assert/strict'
import { test } from 'node:test'
import schemas from '../../kinds/generated/schema.json' with { type: 'json' }
import { isStatusError, type JsonObject, type SchemaSet } from '@skerry/api'
import { nullEmptyLists, setDeclaredDefaults } from './declared-defaults.ts'
import { checkFields } from './field-check.ts'

// The generated file has the shape of a SchemaSet; the compiler only widens its literals.
const builtIn = schemas as unknown as SchemaSet
const podSchema = 'io.k8s.api.core.v1.Pod'

function pod(spec: unknown, metadata: unknown = { name: 'a' }): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec }
}

const container = (fields: object): JsonObject => pod({ containers: [fields] })

/** Answers of Kubernetes 1.36 to a create with the same body. */
const refused: [JsonObject, string][] = [
  [
    pod({ containers: 'x' }),
    'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  [
    container({ name: 5 }),
    'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
  ],
  [
    container({ ports: [{ containerPort: 'x' }] }),
    'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  [
    container({ ports: [{ containerPort: 1.5 }] }),
    'json: cannot unmarshal number 1.5 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  [
    container({ ports: [{ containerPort: 99999999999 }] }),
    'json: cannot unmarshal number 99999999999 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  [
    pod({}, { labels: { a: 5 } }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [
    pod({}, { labels: 'x' }),
    'json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
  [
    pod({}, 'x'),
    'json: cannot unmarshal string into Go struct field Pod.metadata of type v1.ObjectMeta',
  ],
  [pod(true), 'json: cannot unmarshal bool into Go struct field Pod.spec of type v1.PodSpec'],
  [
    pod({ hostNetwork: 'x' }),
    'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool',
  ],
  [
    pod({}, { creationTimestamp: 'x' }),
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    pod({}, { creationTimestamp: 5 }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  ],
  [
    container({ resources: { limits: { cpu: 'x' } } }),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    container({ resources: { limits: { cpu: true } } }),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
]

test("a value of the wrong type is refused in upstream's words", () => {
  for (const [object, detail] of refused) {
    assert.throws(
      () => checkFields({ object, schemas: builtIn, schemaName: podSchema }),
      (error) => {
        assert.ok(isStatusError(error, 'BadRequest'))
        assert.equal(error.message, `Pod in version "v1" cannot be handled as a Pod: ${detail}`)
        return true
      },
    )
  }
})

test('unknown fields are removed and named with their paths', () => {
  const object: JsonObject = {
    ...pod({ foo: 1, containers: [{ name: 'a', bar: 1, env: [{ x: 1, name: 'B' }] }] }),
    status: { podIPs: [{ x: 1 }] },
  }
  const { unknownFields } = checkFields({ object, schemas: builtIn, schemaName: podSchema })
  assert.deepEqual(unknownFields, [
    'unknown field "spec.foo"',
    'unknown field "spec.containers[0].bar"',
    'unknown field "spec.containers[0].env[0].x"',
    'unknown field "status.podIPs[0].x"',
  ])
  assert.deepEqual(object['spec'], { containers: [{ name: 'a', env: [{ name: 'B' }] }] })
})

test('null means absent for a field and empty for a value; empty maps vanish; scalars become canonical', () => {
  const object = pod(
    {
      nodeName: null,
      nodeSelector: {},
      volumes: [],
      containers: [{ name: 'c', resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }],
    },
    { labels: null, annotations: { x: null }, creationTimestamp: '2026-01-01T01:00:00.5+01:00' },
  )
  checkFields({ object, schemas: builtIn, schemaName: podSchema })
  assert.deepEqual(object, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { annotations: { x: '' }, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { containers: [{ name: 'c', resources: { limits: { cpu: '500m', memory: '1Gi' } } }] },
  })
})

test('a zero that upstream never writes is absent; one that means something stays', () => {
  const object = pod({
    hostNetwork: false,
    nodeName: '',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: '', stdin: false, livenessProbe: { periodSeconds: 0 } }],
  })
  checkFields({ object, schemas: builtIn, schemaName: podSchema })
  assert.deepEqual(object['spec'], {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: '', livenessProbe: {} }],
  })
})

test('declared defaults are filled in, also inside lists and defaulted objects', () => {
  const object: JsonObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: { template: { spec: { containers: [{ ports: [{}] }] } } },
  }
  setDeclaredDefaults(object, builtIn, 'io.k8s.api.apps.v1.Deployment')
  assert.deepEqual(object, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {},
    spec: {
      selector: null,
      strategy: {},
      template: {
        metadata: {},
        spec: {
          containers: [{ name: '', resources: {}, ports: [{ containerPort: 0, protocol: 'TCP' }] }],
        },
      },
    },
    status: {},
  })
})

test('a field that is always written is null when unset, and when its list is empty once stored', () => {
  const schemaName = 'io.k8s.api.discovery.v1.EndpointSlice'
  const object: JsonObject = { addressType: 'IPv4', endpoints: [], metadata: { finalizers: [] } }
  checkFields({ object, schemas: builtIn, schemaName })
  setDeclaredDefaults(object, builtIn, schemaName)
  assert.deepEqual(object, { addressType: 'IPv4', endpoints: [], metadata: {}, ports: null })
  nullEmptyLists(object, builtIn, schemaName)
  assert.deepEqual(object['endpoints'], null)
  const pod: JsonObject = { status: { conditions: [{ type: 'Ready' }] } }
  setDeclaredDefaults(pod, builtIn, podSchema)
  assert.deepEqual(pod['status'], {
    conditions: [{ type: 'Ready', status: '', lastProbeTime: null, lastTransitionTime: null }],
  })
})
