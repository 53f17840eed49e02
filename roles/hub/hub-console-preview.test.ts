import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { registerCluster, startTestHub } from '../../testing/scenes/test-fleet.ts'

const olga = { commonName: 'olga', organizations: ['system:masters'] }
const path = '/hub/v1/policy-preview'

test('a preview of a policy names its clusters, with the rights of its asker, and changes nothing', async () => {
  await using fleet = await startTestHub()
  for (const name of ['pilot', 'reef']) await registerCluster(fleet, name)
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const policies = '/apis/policy.karmada.io/v1alpha1/namespaces/default/overridepolicies'
  const policy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      overrideRules: [{ targetCluster: { clusterNames: ['reef'] }, overriders: {} }],
    },
  }
  const query = '?kind=OverridePolicy&namespace=default&name=web'
  const asked = await admin.ask({ method: 'POST', path: `${path}${query}`, json: policy })
  assert.equal(asked.status, 200, asked.text)
  assert.deepEqual(asked.body, { rules: [{ rule: 0, clusters: ['reef'] }] })
  assert.equal((await admin.ask({ path: `${policies}/web` })).status, 404)
  assert.equal((await admin.ask({ path: `${path}${query}` })).status, 404)
  assert.equal((await admin.ask({ method: 'POST', path: policies, json: policy })).status, 201)
  assert.deepEqual((await admin.ask({ path: `${path}${query}` })).body, asked.body)
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  assert.equal((await rita.ask({ path: `${path}${query}` })).status, 403)
  assert.equal((await openTestBrowser(fleet).ask({ path: `${path}${query}` })).status, 403)
})

test('a preview of a policy that the hub would refuse says why', async () => {
  await using fleet = await startTestHub()
  await registerCluster(fleet, 'pilot')
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const policy = (spec: object) => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'all' },
    spec,
  })
  const target = `${path}?kind=ClusterPropagationPolicy&name=all`
  const ask = (json: object, more = '') =>
    admin.ask({ method: 'POST', path: `${target}${more}`, json })
  const selectors = [{ apiVersion: 'apps/v1', kind: 'Deployment' }]
  const told = await ask(policy({ resourceSelectors: selectors }))
  assert.equal(told.status, 200, told.text)
  assert.deepEqual(told.body['placement'], {
    reason: 'NoClusterFit',
    message: '0/1 clusters are available: 1 cluster(s) did not have the API resource.',
    clusters: [],
    refused: [{ cluster: 'pilot', reasons: ['cluster(s) did not have the API resource'] }],
  })
  const suspension = {
    dispatching: true,
    dispatchingOnClusters: { clusterNames: ['pilot'] },
  }
  const invalid = await ask(policy({ resourceSelectors: selectors, suspension }))
  assert.equal(invalid.status, 422, invalid.text)
  for (const more of ['&replicas=0', '&replicas=x', '&replicas=9999999']) {
    assert.equal((await ask(policy({ resourceSelectors: selectors }), more)).status, 400, more)
  }
  assert.equal((await ask({ kind: 'Secret' })).status, 400)
  assert.equal((await admin.ask({ path: `${path}?kind=constructor&name=all` })).status, 400)
  assert.equal((await admin.ask({ path: `${path}?kind=OverridePolicy&name=all` })).status, 400)
  assert.equal((await admin.ask({ method: 'DELETE', path: target })).status, 405)
})
