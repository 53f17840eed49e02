import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { StatusError } from '@skerry/api'
import { discover } from './discovery.ts'
import type { Caller } from './resource-client.ts'

const aggregated = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: 'apps' },
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'deployments',
              scope: 'Namespaced',
              responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
              subresources: [
                {
                  subresource: 'scale',
                  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                },
                {
                  subresource: 'status',
                  responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
                },
                { subresource: 'silent' },
                { subresource: 'brief', responseKind: { kind: 'Deployment' } },
                {
                  subresource: 'namesake',
                  responseKind: { group: 'example.com', version: 'v1', kind: 'Deployment' },
                },
              ],
            },
          ],
        },
      ],
    },
  ],
}

const legacy: Readonly<Record<string, unknown>> = {
  '/apis': { groups: [{ name: 'apps', versions: [{ version: 'v1' }] }] },
  '/apis/apps/v1': {
    resources: [
      { name: 'deployments', kind: 'Deployment', namespaced: true },
      { name: 'deployments/scale', group: 'autoscaling', kind: 'Scale', namespaced: true },
      { name: 'deployments/status', kind: 'Deployment', namespaced: true },
      { name: 'deployments/brief', group: 'apps', kind: 'Deployment', namespaced: true },
    ],
  },
}

test('a subresource of another kind than its resource is distinguished from one that carries the object', async () => {
  const table = [
    [{ '/apis': aggregated }, ['scale', 'namesake']],
    [legacy, ['scale']],
  ] as const
  for (const [answers, foreign] of table) {
    const caller: Caller = {
      clock: systemClock,
      call({ path }) {
        const answer = new Map<string, unknown>(Object.entries(answers)).get(path)
        if (answer !== undefined) return Promise.resolve(answer)
        return Promise.reject(new StatusError('NotFound', 'the server has no such path'))
      },
      open: () => Promise.reject(new Error('discovery opens no stream')),
    }
    const { resources } = await discover(caller, new AbortController().signal)
    assert.deepEqual(
      resources.map(({ resource, foreignSubresources }) => [resource, foreignSubresources]),
      [['deployments', foreign]],
    )
  }
})
