import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds, kindsOfCustomResource, discoveryOrder } from '@skerry/kinds'
import type { CustomResourceDefinition } from '@skerry/api'
import type { OpenApiInput } from './definitions.ts'
import { loadDescriptions, parseDeclarations } from './descriptions.ts'
import { openApiV2Document } from './open-api-v2.ts'
import { openApiV3Document, openApiV3Index } from './open-api-v3.ts'

const widgetSchema = {
  type: 'object',
  description: 'Something to turn.',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: { type: 'string', enum: ['red', 'blue'], default: 'red', description: 'Its paint.' },
        port: { 'x-kubernetes-int-or-string': true },
        maybe: { type: 'string', nullable: true },
        part: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
  },
}

async function inputWithWidget(color = 'red'): Promise<OpenApiInput> {
  const builtin = await builtinKinds()
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {},
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
    },
  }
  const custom = kindsOfCustomResource(crd, builtin[0]?.schemas ?? {})
  const schema = structuredClone(widgetSchema)
  schema.properties.spec.properties.color.default = color
  return { kinds: discoveryOrder(builtin, custom), customSchema: () => schema }
}

/** Follows keys into a JSON document. */
function at(document: unknown, ...keys: string[]): unknown {
  let value = document
  for (const key of keys) {
    assert.ok(typeof value === 'object' && value !== null, `no ${key}`)
    // Objects and arrays can be read by a string key.
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

test('every reference in a document leads to a definition in it', async () => {
  const input = await inputWithWidget()
  const documents = [
    openApiV2Document(input),
    ...Object.keys(openApiV3Index(input).paths).map((path) => openApiV3Document(input, path) ?? {}),
  ]
  for (const document of documents) {
    const text = JSON.stringify(document)
    const matches = text.matchAll(/"\$ref":"#\/([^"]+)"/g)
    const references = new Set(Array.from(matches, ([, reference = '']) => reference))
    for (const reference of references) {
      assert.ok(at(document, ...reference.split('/')), reference)
    }
  }
})

test('a write operation shows kubectl that it can be tried and checked', async () => {
  const document = openApiV3Document(await inputWithWidget(), 'apis/apps/v1')
  const path = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'
  const patch = at(document, 'paths', path, 'patch')
  const parameters = at(patch, 'parameters')
  assert.ok(Array.isArray(parameters))
  assert.deepEqual(
    parameters.map((parameter) => at(parameter, 'name')),
    ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  )
  assert.equal(at(patch, 'x-kubernetes-action'), 'patch')
  assert.deepEqual(at(patch, 'x-kubernetes-group-version-kind'), {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
  })
  const spec = at(document, 'components', 'schemas', 'io.k8s.api.core.v1.PodSpec', 'properties')
  assert.equal(at(spec, 'containers', 'x-kubernetes-patch-merge-key'), 'name')
  assert.deepEqual(at(spec, 'containers', 'x-kubernetes-list-map-keys'), ['name'])
  assert.deepEqual(at(spec, 'overhead', 'additionalProperties'), {
    $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity',
  })
})

test('a custom resource is described as its author wrote it, in the words of each version', async () => {
  const input = await inputWithWidget()
  const name = 'com.example.v1.Widget'
  const v3 = openApiV3Document(input, 'apis/example.com/v1')
  const definition = at(v3, 'components', 'schemas', name)
  assert.equal(at(definition, 'description'), 'Something to turn.')
  const fields = at(definition, 'properties', 'spec', 'properties')
  assert.equal(at(fields, 'color', 'default'), 'red')
  assert.deepEqual(at(fields, 'port', 'anyOf'), [{ type: 'integer' }, { type: 'string' }])
  assert.equal(at(fields, 'maybe', 'nullable'), true)
  assert.deepEqual(at(fields, 'part', 'required'), ['kind', 'apiVersion'])
  const body = at(
    v3,
    'paths',
    '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}',
    'patch',
  )
  assert.ok(!JSON.stringify(body).includes('strategic-merge'))
  const old = at(openApiV2Document(input), 'definitions', name, 'properties', 'spec', 'properties')
  assert.deepEqual(at(old, 'color'), {
    type: 'string',
    enum: ['red', 'blue'],
    description: 'Its paint.',
  })
  assert.deepEqual(at(old, 'port'), { 'x-kubernetes-int-or-string': true })
  assert.deepEqual(at(old, 'maybe'), {})
  assert.equal(at(old, 'part', 'type'), undefined)
})

test('operations of custom groups have their own media types and parameters, not those of built-in ones', async () => {
  const input = await inputWithWidget()
  const item = '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}'
  const [v2, v3] = [openApiV2Document(input), openApiV3Document(input, 'apis/example.com/v1')]
  const types = ['application/json', 'application/yaml']
  assert.deepEqual(at(v3, 'info'), { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' })
  assert.deepEqual(at(v2, 'paths', item, 'get', 'consumes'), types)
  assert.deepEqual(at(v2, 'paths', item, 'get', 'produces'), types)
  const answers = at(v3, 'paths', item, 'patch', 'responses')
  assert.deepEqual(Object.keys(Object(answers)), ['200', '401'])
  const names = (place: unknown) => Array.from(Object(place), (one) => at(one, 'name'))
  assert.deepEqual(names(at(v3, 'paths', item, 'get', 'parameters')), ['resourceVersion'])
  const everywhere = at(v3, 'paths', '/apis/example.com/v1/widgets')
  assert.ok(!Object.hasOwn(Object(at(everywhere, 'get')), 'parameters'))
  assert.ok(names(at(everywhere, 'parameters')).includes('watch'))
  const old = at(v2, 'definitions', 'com.example.v1.Widget', 'properties', 'spec', 'properties')
  assert.deepEqual(at(old, 'port'), { 'x-kubernetes-int-or-string': true })
})

test('the hash of a document changes with its content and with nothing else', async () => {
  const [one, same, other] = [
    await inputWithWidget(),
    await inputWithWidget(),
    await inputWithWidget('blue'),
  ]
  const hash = (input: OpenApiInput, path: string) =>
    openApiV3Index(input).paths[path]?.['serverRelativeURL']
  assert.equal(hash(one, 'apis/example.com/v1'), hash(same, 'apis/example.com/v1'))
  assert.notEqual(hash(one, 'apis/example.com/v1'), hash(other, 'apis/example.com/v1'))
  assert.equal(hash(one, 'apis/apps/v1'), hash(other, 'apis/apps/v1'))
  assert.equal(hash(one, 'apis/none/v1'), undefined)
  assert.equal(openApiV3Document(one, 'apis/none/v1'), undefined)
})

test('lists of built-in kinds are described as their declarations are, newer ones as all lists are', async () => {
  const sentences = (kind: string, fields: string): string =>
    `/** ${kind}s. */\nexport interface ${kind} {\n${fields}}\n`
  const texts: Readonly<Record<string, string>> = {
    'core/v1.d.ts': sentences('PodList', '    /** All of them. */\n    items: Pod[];\n'),
    'scheduling/v1.d.ts': sentences(
      'PriorityClassList',
      '    /** A version. */\n    apiVersion?: string;\n',
    ),
  }
  const names = ['io.k8s.api.core.v1.Pod', 'io.k8s.api.scheduling.v1.PriorityClass']
  const descriptions = await loadDescriptions(names, async (file) => texts[file])
  const input = { ...(await inputWithWidget()), descriptions }
  const definitions = at(openApiV2Document(input), 'definitions')
  const pods = at(definitions, 'io.k8s.api.core.v1.PodList')
  assert.equal(at(pods, 'description'), 'PodLists.')
  assert.equal(at(pods, 'properties', 'items', 'description'), 'All of them.')
  assert.equal(at(pods, 'properties', 'apiVersion', 'description'), 'A version.')
  const secrets = at(definitions, 'io.k8s.api.core.v1.SecretList')
  assert.equal(at(secrets, 'properties', 'apiVersion', 'description'), 'A version.')
})

test('the sentences of declaration files become descriptions', async () => {
  const text = `
/** A pod. */
export interface Pod {
    /** Its form. */
    spec?: PodSpec;
    bare: string;
    /**
     * Two
     * lines.
     */
    "x-long"?: string;
    /** When. */
    readonly made?: Time;
}
`
  assert.deepEqual(parseDeclarations(text).get('Pod'), {
    description: 'A pod.',
    fields: { spec: 'Its form.', 'x-long': 'Two\nlines.', made: 'When.' },
  })
  const name = 'io.k8s.api.core.v1.Pod'
  const read: string[] = []
  const descriptions = await loadDescriptions([name, 'io.k8s.api.core.v1.Node'], async (file) => {
    read.push(file)
    return text
  })
  assert.deepEqual(read, ['core/v1.d.ts'])
  const input = { ...(await inputWithWidget()), descriptions }
  const pod = at(openApiV3Document(input, 'api/v1'), 'components', 'schemas', name)
  assert.equal(at(pod, 'description'), 'A pod.')
  assert.equal(at(pod, 'properties', 'spec', 'description'), 'Its form.')
  const none = await loadDescriptions([name], async () => undefined)
  assert.equal(none(name), undefined)
})
