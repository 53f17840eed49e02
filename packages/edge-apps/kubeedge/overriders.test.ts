import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@skerry/api'
import { manifestKinds } from '../children/manifest-kinds-table.ts'
import type { Overriders } from './edge-application.ts'
import { withOverriders } from './overriders.ts'

const deployments = manifestKinds.find(({ resource }) => resource.kind === 'Deployment')

function overridden(overriders: Overriders, container: JsonObject = {}): JsonObject {
  const containers = [{ name: 'c', image: 'reg.io/team/web:1.0', ...container }]
  const podSpec = { containers, initContainers: [{ name: 'i', image: 'busybox' }] }
  const manifest = { kind: 'Deployment', spec: { replicas: 1, template: { spec: podSpec } } }
  return withOverriders(manifest, deployments ?? assert.fail(), overriders)
}

function deployment(replicas: number, container: JsonObject, init = 'busybox'): JsonObject {
  const podSpec = { containers: [container], initContainers: [{ name: 'i', image: init }] }
  return { kind: 'Deployment', spec: { replicas, template: { spec: podSpec } } }
}

const image = 'reg.io/team/web:1.0'
const containerName = 'c'

const cases: readonly [string, Overriders, JsonObject, JsonObject][] = [
  ['the number of replicas', { replicas: 3 }, {}, deployment(3, { name: 'c', image })],
  [
    'the registry of every image, and the tag of those of the application',
    {
      imageOverriders: [
        { component: 'Registry', operator: 'replace', value: 'mirror.local:5000' },
        { component: 'Tag', operator: 'replace', value: '2.0' },
      ],
    },
    {},
    deployment(
      1,
      { name: 'c', image: 'mirror.local:5000/team/web:2.0' },
      'mirror.local:5000/busybox',
    ),
  ],
  [
    'one image by its path',
    {
      imageOverriders: [
        {
          predicate: { path: '/spec/template/spec/initContainers/0/image' },
          component: 'Tag',
          operator: 'add',
          value: '1.36',
        },
      ],
    },
    {},
    deployment(1, { name: 'c', image }, 'busybox:1.36'),
  ],
  [
    'variables: replaced in place, added, removed',
    {
      envOverriders: [
        { containerName, operator: 'replace', value: [{ name: 'A', value: '2' }] },
        { containerName, operator: 'add', value: [{ name: 'C', value: '3' }] },
        { containerName, operator: 'remove', value: [{ name: 'B' }] },
      ],
    },
    {
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '1' },
      ],
    },
    deployment(1, {
      name: 'c',
      image,
      env: [
        { name: 'A', value: '2' },
        { name: 'C', value: '3' },
      ],
    }),
  ],
  [
    'words of the command and of the arguments',
    {
      commandOverriders: [{ containerName, operator: 'add', value: ['-v'] }],
      argsOverriders: [{ containerName, operator: 'remove', value: ['a'] }],
    },
    { args: ['a'] },
    deployment(1, { name: 'c', image, command: ['-v'] }),
  ],
  [
    'the amounts of resources that it names',
    { resourcesOverriders: [{ containerName, value: { limits: { cpu: '1' } } }] },
    { resources: { limits: { cpu: '2', memory: '2Gi' }, requests: { memory: '1Gi' } } },
    deployment(1, {
      name: 'c',
      image,
      resources: { limits: { cpu: '1', memory: '2Gi' }, requests: { memory: '1Gi' } },
    }),
  ],
]

for (const [what, overriders, container, expected] of cases) {
  test(`an overrider changes ${what}`, () => {
    assert.deepEqual(overridden(overriders, container), expected)
  })
}

test('an image that cannot be read, and a path without an image, are refused by name', () => {
  const imageOverriders = [{ component: 'Tag', operator: 'remove' } as const]
  assert.throws(() => overridden({ imageOverriders }, { image: 'Not An Image' }), {
    name: 'RangeError',
    message: 'image "Not An Image" cannot be changed: invalid reference format',
  })
  const predicate = { path: '/spec/template/spec/containers/7/image' }
  const elsewhere = [{ component: 'Tag', operator: 'remove', predicate } as const]
  assert.throws(() => overridden({ imageOverriders: elsewhere }), {
    name: 'RangeError',
    message: 'there is no image at "/spec/template/spec/containers/7/image"',
  })
})
