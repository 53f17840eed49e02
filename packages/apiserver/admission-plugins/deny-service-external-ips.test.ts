import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admissionRequest } from '../testing/admission-request.ts'
import { ObjectTable } from '../testing/object-table.ts'
import { pluginDeps } from '../testing/plugin-deps.ts'
import { createDefaultPlugins } from '../default-plugins.ts'

const deps = pluginDeps(new ObjectTable())

test('where external IPs are denied, a service keeps those that it has and gets no other', async () => {
  const plugins = createDefaultPlugins(deps, ['DenyServiceExternalIPs'])
  const named = plugins.filter(({ name }) => name === 'DenyServiceExternalIPs')
  const service = (...externalIPs: string[]) => ({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { externalIPs },
  })
  const table: [isAllowed: boolean, next: object, old?: object][] = [
    [true, service()],
    [false, service('192.0.2.1')],
    [true, service('192.0.2.1'), service('192.0.2.1', '192.0.2.2')],
    [true, service(), service('192.0.2.1')],
    [false, service('192.0.2.1', '192.0.2.2'), service('192.0.2.1')],
    [false, service('192.0.2.2'), service('192.0.2.1')],
  ]
  for (const [isAllowed, object, oldObject] of table) {
    const request = admissionRequest({
      operation: oldObject ? 'UPDATE' : 'CREATE',
      resource: { group: '', version: 'v1', resource: 'services' },
      subresource: '',
      object,
      ...(oldObject ? { oldObject } : {}),
      user: { name: 'jane', groups: [], extra: {} },
    })
    const judged = Promise.all(named.map(async (plugin) => plugin.validate?.(request)))
    if (isAllowed) await judged
    else await assert.rejects(judged, /Use of external IPs is denied by admission control/)
  }
  const usual = createDefaultPlugins(deps).map(({ name }) => name)
  assert.ok(!usual.includes('DenyServiceExternalIPs'))
  assert.equal(usual.at(-1), plugins.at(-1)?.name)
})
