import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discoveredKinds, kindKey } from './discovered-kinds.ts'

test('kinds that can be watched are listed once, in the preferred version', () => {
  const watchable = ['get', 'list', 'watch']
  const pods = {
    resource: 'pods',
    scope: 'Namespaced',
    verbs: watchable,
    responseKind: { kind: 'Pod' },
  }
  const bindings = { resource: 'bindings', scope: 'Namespaced', verbs: ['create'] }
  const policies = { resource: 'policies', scope: 'Cluster', verbs: watchable }
  const found = discoveredKinds([
    { items: [{ metadata: {}, versions: [{ version: 'v1', resources: [pods, bindings] }] }] },
    {
      items: [
        {
          metadata: { name: 'x.example' },
          versions: [
            { version: 'v2', resources: [policies] },
            { version: 'v1', resources: [policies] },
          ],
        },
      ],
    },
  ])
  assert.deepEqual(
    found.map((each) => [kindKey(each), each.version, each.kind, each.isNamespaced]),
    [
      ['pods', 'v1', 'Pod', true],
      ['policies.x.example', 'v2', 'policies', false],
    ],
  )
})
