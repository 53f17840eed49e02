import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsAt, fieldAt } from '@skerry/fleet-kinds'
import { agentManifest } from './agent-manifest.ts'

function made(appliesWorks: boolean, hasVirtualClusters = false) {
  const objects = agentManifest({
    cluster: 'shop-7',
    server: 'https://hub:7443',
    caHash: 'sha256:0',
    token: 'token',
    image: 'agent',
    policy: { groups: ['staff'] },
    services: [],
    appliesWorks,
    hasVirtualClusters,
  })
  const role = objects.find(({ kind }) => kind === 'ClusterRole')
  const rules = objectsAt(role, 'rules')
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  const [container] = objectsAt(deployment, 'spec', 'template', 'spec', 'containers')
  const args = fieldAt(container, 'args')
  const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
  const allRules = roles.flatMap((each) => objectsAt(each, 'rules'))
  return { rules, allRules, args: Array.isArray(args) ? args : [] }
}

const changing = ['create', 'update', 'patch', 'delete', 'escalate', 'bind', '*']

function isChanging(rule: unknown): boolean {
  const verbs = fieldAt(rule, 'verbs')
  return Array.isArray(verbs) && verbs.some((verb) => changing.includes(verb))
}

test('only an agent that is asked to apply Works, or has virtual clusters, may change the cluster', () => {
  const reading = made(false)
  assert.deepEqual(reading.rules.filter(isChanging), [])
  assert.equal(reading.args.includes('--apply-works'), false)
  const applying = made(true)
  assert.equal(applying.args.includes('--apply-works'), true)
  assert.deepEqual(
    applying.rules
      .filter(isChanging)
      .map((rule) => [fieldAt(rule, 'apiGroups'), rule['resources']]),
    [
      [['*'], ['*']],
      [['rbac.authorization.k8s.io'], ['roles', 'clusterroles']],
    ],
  )
  const grouping = made(false, true)
  assert.equal(grouping.args.includes('--virtual-clusters'), true)
  assert.deepEqual(grouping.rules, applying.rules)
  // The operator's limits on impersonation still hold.
  const impersonating = applying.rules.filter((rule) => {
    const verbs = fieldAt(rule, 'verbs')
    return Array.isArray(verbs) && verbs.includes('impersonate')
  })
  const groups = impersonating.filter(({ resources }) => String(resources) === 'groups')
  assert.deepEqual(groups, [
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['staff'] },
  ])
})

test('an agent that only reports may read and write the Secret of its identity, and no other', () => {
  const ofSecrets = made(false).allRules.filter(({ resources }) =>
    /secrets|\*/.test(String(resources)),
  )
  const rights = ofSecrets.map(({ resources, resourceNames, verbs }) => ({
    resources,
    resourceNames,
    verbs,
  }))
  assert.deepEqual(rights, [
    { resources: ['secrets'], resourceNames: ['skerry-agent-identity'], verbs: ['get', 'patch'] },
  ])
})
