import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logPath } from './log-path.ts'
import { containerNames, logSources, podsPath } from './pod-containers.ts'

const pod = {
  metadata: { name: 'web-1', namespace: 'shop' },
  spec: { containers: [{ name: 'app' }, { name: 'proxy' }], initContainers: [{ name: 'init' }] },
}

test('the logs of a pod are those of its containers, and of an init container if it is chosen', () => {
  assert.deepEqual(containerNames(pod), ['app', 'proxy', 'init'])
  const names = (container: string): string[] =>
    logSources('edge', [pod], container).map(({ name }) => name)
  assert.deepEqual(names(''), ['web-1/app', 'web-1/proxy'])
  assert.deepEqual(names('init'), ['web-1/init'])
  assert.equal(
    logSources('edge', [pod], 'app')[0]?.path,
    '/clusters/edge/api/v1/namespaces/shop/pods/web-1/log',
  )
})

test('the pods of a workload are found by its selector, and an empty selector finds none', () => {
  const name = {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    namespace: 'shop',
    name: 'w',
  }
  const owner = { spec: { selector: { matchLabels: { app: 'web', tier: 'a/b' } } } }
  assert.equal(
    podsPath('edge', name, owner),
    '/clusters/edge/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb%2Ctier%3Da%2Fb',
  )
  assert.equal(podsPath('edge', name, {}), undefined)
})

test('a log goes on at the second of its last line', () => {
  const source = { name: 'p/c', container: 'c', path: '/log' }
  const wish = { isFollowing: true, isPrevious: false, tailLines: 100 }
  assert.equal(
    logPath(source, wish, undefined),
    '/log?container=c&timestamps=true&follow=true&tailLines=100',
  )
  assert.equal(
    logPath(source, wish, '2026-01-01T00:00:02.123456789Z'),
    '/log?container=c&timestamps=true&follow=true&sinceTime=2026-01-01T00%3A00%3A02Z',
  )
  assert.equal(
    logPath(source, { ...wish, isPrevious: true }, undefined),
    '/log?container=c&timestamps=true&previous=true&tailLines=100',
  )
})
