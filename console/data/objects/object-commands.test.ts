import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listCommand, mayCommand, objectCommands, type PortOwner } from './object-commands.ts'

const texts = (...asked: Parameters<typeof objectCommands>): string[] =>
  objectCommands(...asked).map(({ text }) => text)

test('a pod has commands for its log, its shell and its ports', () => {
  const pod = { group: '', version: 'v1', resource: 'pods', namespace: 'shop', name: 'till' }
  const owner: PortOwner = {
    spec: {
      containers: [
        { ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }] },
        { ports: [{ containerPort: 9_090, protocol: 'TCP' }, { containerPort: 80 }] },
      ],
    },
  }
  const kubectl = 'kubectl --context shop-7 -n shop'
  assert.deepEqual(texts('shop-7', pod, owner), [
    `${kubectl} get pods/till -o yaml`,
    `${kubectl} describe pods/till`,
    `${kubectl} edit pods/till`,
    `${kubectl} logs pods/till --all-containers --follow`,
    `${kubectl} exec -it pods/till -- sh`,
    `${kubectl} port-forward pods/till 8080:80`,
    `${kubectl} port-forward pods/till 9090:9090`,
  ])
})

test('a service of a cluster can be reached through the hub, too', () => {
  const service = { group: '', version: 'v1', resource: 'services', namespace: 'shop', name: 'web' }
  assert.deepEqual(texts('shop-7', service, { spec: { ports: [{ port: 443 }] } }).slice(3), [
    'kubectl --context shop-7 -n shop port-forward services/web 8443:443',
    'skerry forward shop-7 8443:shop/web:443 --context hub',
  ])
})

test('an object of the hub is found in the hub’s context, and an odd name cannot end the command', () => {
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
  assert.deepEqual(texts(undefined, { ...rbac, name: `a'; reboot` }, {}), [
    `kubectl --context hub get 'clusterroles.rbac.authorization.k8s.io/a'\\''; reboot' -o yaml`,
    `kubectl --context hub describe 'clusterroles.rbac.authorization.k8s.io/a'\\''; reboot'`,
    `kubectl --context hub edit 'clusterroles.rbac.authorization.k8s.io/a'\\''; reboot'`,
  ])
  assert.equal(
    listCommand(undefined, rbac, undefined),
    'kubectl --context hub get clusterroles.rbac.authorization.k8s.io',
  )
  const pods = { group: '', version: 'v1', resource: 'pods' }
  assert.equal(listCommand('a', pods, ''), 'kubectl --context a get pods --all-namespaces')
  assert.equal(listCommand('a', pods, 'shop'), 'kubectl --context a -n shop get pods')
})

test('a question of a link cannot end the command that asks it in a terminal', () => {
  const question = { verb: 'get; reboot', resource: 'pods$(id)', namespace: '`x`' }
  assert.equal(
    mayCommand('a', question),
    "kubectl --context a -n '`x`' auth can-i 'get; reboot' 'pods$(id)'",
  )
  assert.equal(
    mayCommand(undefined, { verb: 'list', resource: 'deployments.apps/scale', namespace: '' }),
    'kubectl --context hub auth can-i list deployments.apps/scale --all-namespaces',
  )
})
