import type { AnyObject } from '@skerry/api'
import type { OverridePolicy, Overriders } from '@skerry/karmada-kinds'

type OverrideSpec = OverridePolicy['spec']
import { config, deployment, job, memberCluster, pod, role } from './objects.ts'

/** A case of one object that policies change on its way to one cluster. */
export interface OverrideCase {
  readonly name: string
  readonly object: AnyObject
  readonly cluster: AnyObject
  readonly policies: readonly AnyObject[]
  readonly clusterPolicies: readonly AnyObject[]
}

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

/** A policy of the object's namespace with one rule. */
function one(name: string, object: AnyObject, overriders: Overriders): OverrideCase {
  return several(name, object, { policies: [['p', { overrideRules: [{ overriders }] }]] })
}

function several(
  name: string,
  object: AnyObject,
  given: {
    policies?: readonly (readonly [name: string, spec: OverrideSpec, namespace?: string])[]
    clusterPolicies?: readonly (readonly [name: string, spec: OverrideSpec])[]
    cluster?: AnyObject
  },
): OverrideCase {
  const apiVersion = 'policy.karmada.io/v1alpha1'
  const { policies = [], clusterPolicies = [], cluster = memberCluster } = given
  return {
    name,
    object,
    cluster,
    policies: policies.map(([policy, spec, namespace = 'shop']) => ({
      apiVersion,
      kind: 'OverridePolicy',
      metadata: { name: policy, namespace },
      spec,
    })),
    clusterPolicies: clusterPolicies.map(([policy, spec]) => ({
      apiVersion,
      kind: 'ClusterOverridePolicy',
      metadata: { name: policy },
      spec,
    })),
  }
}

function image(
  component: 'Registry' | 'Repository' | 'Tag',
  operator: 'add' | 'remove' | 'replace',
  value?: string,
  path?: string,
): Overriders {
  const predicate = path === undefined ? {} : { predicate: { path } }
  const text = value === undefined ? {} : { value }
  return { imageOverrider: [{ component, operator, ...text, ...predicate }] }
}

const images: readonly OverrideCase[] = [
  ...[
    'nginx',
    'nginx:1.29',
    'library/nginx:1.29',
    'localhost/nginx',
    'registry.example:5000/shop/web:v1',
    `registry.example/shop/web@${digest}`,
    `registry.example/shop/web:v1@${digest}`,
    '[2001:db8::1]:5000/web:v1',
    'Shop/web:v1',
    'shop/web:',
    '',
    `web@sha256:${'0'.repeat(40)}`,
    `web@md5:${'0'.repeat(32)}`,
    `web@sha256:${'A'.repeat(64)}`,
    `${'a'.repeat(256)}:v1`,
  ].flatMap((from) => [
    one(
      `registry of ${from.slice(0, 40)}`,
      pod(from),
      image('Registry', 'replace', 'mirror.example:443'),
    ),
    one(`tag of ${from.slice(0, 40)}`, pod(from), image('Tag', 'replace', 'v2')),
  ]),
  one('registry added', pod('registry.example/web'), image('Registry', 'add', '.mirror')),
  one('registry removed', pod('registry.example:5000/web:v1'), image('Registry', 'remove')),
  one('registry with a path', pod('web:v1'), image('Registry', 'replace', 'mirror.example/cache')),
  one('repository added', pod('registry.example/web:v1'), image('Repository', 'add', '-edge')),
  one(
    'repository replaced',
    pod('registry.example/shop/web:v1'),
    image('Repository', 'replace', 'till'),
  ),
  one('repository removed', pod('registry.example/web:v1'), image('Repository', 'remove')),
  one('tag added', pod('web:v1'), image('Tag', 'add', '-arm64')),
  one('tag removed', pod('web:v1'), image('Tag', 'remove')),
  one('digest removed', pod(`web@${digest}`), image('Tag', 'remove')),
  one('tag instead of digest', pod(`web@${digest}`), image('Tag', 'replace', 'v2')),
  one('digest instead of tag', pod('web:v1'), image('Tag', 'replace', digest)),
  one('no tag at all', pod('web:v1'), image('Tag', 'replace', 'a tag?')),
  one(
    'each container of a deployment',
    deployment(),
    image('Registry', 'replace', 'mirror.example'),
  ),
  one('containers of a job', job(), image('Tag', 'replace', 'v2')),
  one('a kind without containers', config(), image('Tag', 'replace', 'v2')),
  one(
    'an init container by its path',
    deployment(),
    image('Tag', 'replace', 'v9', '/spec/template/spec/initContainers/0/image'),
  ),
  one('an image in another kind', config(), image('Tag', 'replace', 'v9', '/data/image')),
  one('no image at the path', config(), image('Tag', 'replace', 'v9', '/data/none')),
  one('no object on the way', config(), image('Tag', 'replace', 'v9', '/data/image/tag')),
  one(
    'no number in a list',
    deployment(),
    image('Tag', 'replace', 'v9', '/spec/template/spec/containers/first/image'),
  ),
  one(
    'a path that does not start with a slash',
    config(),
    image('Tag', 'replace', 'v9', 'data/image'),
  ),
]

const words: readonly OverrideCase[] = [
  one('command added', deployment(), {
    commandOverrider: [{ containerName: 'web', operator: 'add', value: ['--edge'] }],
  }),
  one('command where there is none', deployment(), {
    commandOverrider: [{ containerName: 'side', operator: 'add', value: ['/side'] }],
  }),
  one('command removed', deployment(), {
    commandOverrider: [{ containerName: 'web', operator: 'remove', value: ['serve'] }],
  }),
  one('command removed where there is none', deployment(), {
    commandOverrider: [{ containerName: 'side', operator: 'remove', value: ['serve'] }],
  }),
  one('no container of that name', deployment(), {
    commandOverrider: [{ containerName: 'none', operator: 'add', value: ['x'] }],
  }),
  one('args added twice', deployment(), {
    argsOverrider: [
      { containerName: 'web', operator: 'add', value: ['--a'] },
      { containerName: 'web', operator: 'add', value: ['--b'] },
    ],
  }),
  one('args removed, each time they stand there', deployment(), {
    argsOverrider: [{ containerName: 'web', operator: 'remove', value: ['-v'] }],
  }),
  one('args of a job', job(), {
    argsOverrider: [{ containerName: 'web', operator: 'add', value: ['--a'] }],
  }),
  one('args of a kind without containers', config(), {
    argsOverrider: [{ containerName: 'web', operator: 'add', value: ['--a'] }],
  }),
]

const maps: readonly OverrideCase[] = (['add', 'replace', 'remove'] as const).flatMap(
  (operator) => [
    one(`labels: ${operator}`, deployment(), {
      labelsOverrider: [{ operator, value: { tier: 'edge', 'shop.example/till': 'yes' } }],
    }),
    one(`annotations: ${operator}`, deployment(), {
      annotationsOverrider: [{ operator, value: { 'shop.example/note': 'edge', more: '1' } }],
    }),
    one(`labels where there are none: ${operator}`, config(), {
      labelsOverrider: [{ operator, value: { tier: 'edge' } }],
    }),
  ],
)

const fields: readonly OverrideCase[] = [
  one('YAML in a field', config(), {
    fieldOverrider: [
      {
        fieldPath: '/data/app.yaml',
        yaml: [
          { subPath: '/db/host', operator: 'replace', value: 'db.edge' },
          { subPath: '/db/pool', operator: 'add', value: { max: 4, names: ['a', 'b'] } },
          { subPath: '/features/0', operator: 'remove' },
        ],
      },
    ],
  }),
  one('JSON in a field', config(), {
    fieldOverrider: [
      {
        fieldPath: '/data/app.json',
        json: [
          { subPath: '/db/host', operator: 'replace', value: 'db.edge' },
          { subPath: '/list/-', operator: 'add', value: 3 },
          { subPath: '/text', operator: 'add', value: '<&>' },
        ],
      },
    ],
  }),
  one('neither language', config(), { fieldOverrider: [{ fieldPath: '/data/app.json' }] }),
  ...['/data/none', '/metadata', '/data/image/x', 'data', '/none/x'].map((fieldPath) =>
    one(`a field that is no text: ${fieldPath}`, config(), {
      fieldOverrider: [{ fieldPath, json: [{ subPath: '/a', operator: 'add', value: 1 }] }],
    }),
  ),
  one('a field that is no JSON', config(), {
    fieldOverrider: [
      { fieldPath: '/data/image', json: [{ subPath: '/a', operator: 'add', value: 1 }] },
    ],
  }),
  one('a key that the document lacks', config(), {
    fieldOverrider: [
      { fieldPath: '/data/app.yaml', yaml: [{ subPath: '/none', operator: 'remove' }] },
    ],
  }),
]

const plain: readonly OverrideCase[] = [
  one('plaintext: replace, add, remove', deployment(), {
    plaintext: [
      { path: '/spec/replicas', operator: 'replace', value: 5 },
      { path: '/spec/paused', operator: 'add', value: true },
      { path: '/spec/template/spec/containers/0/args/0', operator: 'remove' },
      { path: '/spec/template/spec/containers/-', operator: 'add', value: { name: 'last' } },
      { path: '/metadata/labels/shop.example~1till', operator: 'add', value: '7' },
    ],
  }),
  ...(
    [
      ['/spec/none/a', 'add', 1],
      ['/spec/none', 'replace', 1],
      ['/spec/none/a', 'replace', 1],
      ['/spec/none', 'remove'],
      ['/spec/none/a', 'remove'],
      ['/spec/template/spec/containers/9', 'remove'],
      ['/spec/template/spec/containers/9', 'replace', {}],
      ['/spec/template/spec/containers/9', 'add', {}],
      ['/spec/template/spec/containers/-3', 'add', { name: 'first' }],
      ['/spec/template/spec/containers/-1', 'remove'],
      ['/spec/template/spec/containers/first', 'add', {}],
      ['/spec/template/spec/containers/first', 'remove'],
      ['/spec/replicas/a', 'add', 1],
      ['spec', 'add', 1],
      ['/spec/replicas', 'add', null],
    ] as const
  ).map(([path, operator, value]) =>
    one(`plaintext: ${operator} ${path}`, deployment(), {
      plaintext: [{ path, operator, ...(value === undefined ? {} : { value }) }],
    }),
  ),
]

const label = (key: string): Overriders => ({
  annotationsOverrider: [{ operator: 'add', value: { last: key } }],
})
const rule = (key: string): OverrideSpec => ({ overrideRules: [{ overriders: label(key) }] })
const selecting = (key: string, selector: object): OverrideSpec => ({
  ...rule(key),
  resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', ...selector }],
})

const scopes: readonly OverrideCase[] = [
  several('every cluster, then the namespace', deployment(), {
    policies: [['a', rule('own')]],
    clusterPolicies: [['z', rule('everywhere')]],
  }),
  several('closer is later, then by name', deployment(), {
    policies: [
      ['a', selecting('name', { name: 'web' })],
      ['b', selecting('labels', { labelSelector: { matchLabels: { tier: 'front' } } })],
      ['d', rule('all')],
      ['c', selecting('kind', {})],
    ],
  }),
  several('what does not select changes nothing', deployment(), {
    policies: [
      ['a', selecting('other name', { name: 'other' })],
      ['b', selecting('other labels', { labelSelector: { matchLabels: { tier: 'back' } } })],
      ['c', rule('other namespace'), 'office'],
    ],
  }),
  several('an object without a namespace', role(), {
    policies: [['a', rule('own')]],
    clusterPolicies: [['b', rule('everywhere')]],
  }),
  several('rules by cluster', deployment(), {
    policies: [
      [
        'p',
        {
          overrideRules: [
            { targetCluster: { clusterNames: ['north'] }, overriders: label('name') },
            { targetCluster: { clusterNames: ['south'] }, overriders: label('other') },
            {
              targetCluster: { labelSelector: { matchLabels: { size: 'small' } } },
              overriders: { labelsOverrider: [{ operator: 'add', value: { size: 'small' } }] },
            },
            { targetCluster: { exclude: ['north'] }, overriders: label('excluded') },
          ],
        },
      ],
    ],
  }),
  several('the form of before rules', deployment(), {
    policies: [
      ['a', { targetCluster: { clusterNames: ['north'] }, overriders: label('old form') }],
      ['b', { targetCluster: { clusterNames: ['south'] }, overriders: label('not here') }],
    ],
  }),
  several('all at once, in the order of overriders', deployment(), {
    clusterPolicies: [
      [
        'all',
        {
          overrideRules: [
            {
              overriders: {
                plaintext: [
                  {
                    path: '/metadata/annotations/last',
                    operator: 'replace',
                    value: 'plaintext <&>',
                  },
                ],
                ...image('Registry', 'replace', 'mirror.example'),
                commandOverrider: [{ containerName: 'web', operator: 'add', value: ['-x'] }],
                argsOverrider: [{ containerName: 'web', operator: 'add', value: ['-y'] }],
                labelsOverrider: [{ operator: 'add', value: { z: '1', a: '2' } }],
                ...label('annotations'),
              },
            },
          ],
        },
      ],
    ],
  }),
]

export const overrideCases: readonly OverrideCase[] = [
  ...images,
  ...words,
  ...maps,
  ...fields,
  ...plain,
  ...scopes,
]
