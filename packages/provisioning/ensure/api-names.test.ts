import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, HighAvailability } from '../kind/edge-cluster.ts'
import { stepScene, type StepScene } from '../testing/step-scene.ts'
import { apiNamesName, apiNamesOf, hasApiNames, setApiNames } from './api-names.ts'

const file = '/etc/skerry/site.env'
const links = JSON.stringify([{ ifname: 'eth0', addr_info: [{ local: '10.0.0.11' }] }])
const head = 'SKERRY_ARGS=--name branch-7 --hub https://10.0.0.1:7443'
const addresses = '--san 10.0.0.11 --san 10.0.0.11'

function sceneOf(
  apiNames: string[],
  options: string,
  highAvailability?: HighAvailability,
): StepScene {
  const spec = {
    ...(apiNames.length === 0 ? {} : { apiNames }),
    ...(highAvailability === undefined ? {} : { highAvailability }),
  }
  const scene = stepScene({
    spec,
    answer: ([program]) => (program === 'ip' ? { stdout: links } : undefined),
  })
  scene.shell.files.set(file, options)
  return scene
}

const restarts = ({ shell }: StepScene): number =>
  shell.commands.filter((command) => command.join(' ') === 'systemctl restart skerry-site').length

test('a new name becomes an option of the site, which starts again and is awaited', async () => {
  const scene = sceneOf(['api.branch-7.example'], `${head} ${addresses}\n`)
  assert.equal(
    await setApiNames(scene.context),
    'names besides its addresses: api.branch-7.example',
  )
  const text = `${head} --san 10.0.0.11 --san api.branch-7.example\n`
  assert.equal(scene.shell.files.get(file), text)
  assert.equal(restarts(scene), 1)
  assert.ok(scene.shell.commands.some((command) => command.includes('nodes')))
})

test('names that the site has already are left, and it is not started again', async () => {
  const scene = sceneOf(
    ['api.branch-7.example'],
    `${head} ${addresses} --san api.branch-7.example\n`,
  )
  assert.equal(
    await setApiNames(scene.context),
    'names besides its addresses: api.branch-7.example; as before',
  )
  assert.equal(restarts(scene), 0)
})

test('a name that is gone from the object is taken away, and options around it stay', async () => {
  const scene = sceneOf([], `${head} --san old.example ${addresses} --port 6443\n`)
  await setApiNames(scene.context)
  assert.equal(scene.shell.files.get(file), `${head} --port 6443 --san 10.0.0.11\n`)
})

test('a site gets the address before the masters, follows its port, and forgets it', async () => {
  const balancer = (port: number): HighAvailability => ({
    type: 'Balancer',
    address: 'api.example',
    port,
  })
  const fronted = `${head} --san 10.0.0.11 --san api.example --control-plane-endpoint api.example`
  const first = sceneOf([], `${head} --san 10.0.0.11\n`, balancer(443))
  await setApiNames(first.context)
  assert.equal(first.shell.files.get(file), `${fronted}:443\n`)
  assert.equal(restarts(first), 1)
  const same = sceneOf([], `${fronted}:443\n`, balancer(443))
  await setApiNames(same.context)
  assert.equal(restarts(same), 0)
  const moved = sceneOf([], `${fronted}:443\n`, balancer(8443))
  await setApiNames(moved.context)
  assert.equal(moved.shell.files.get(file), `${fronted}:8443\n`)
  const gone = sceneOf([], `${fronted}:8443\n`)
  await setApiNames(gone.context)
  assert.equal(gone.shell.files.get(file), `${head} --san 10.0.0.11\n`)
  const inputs = [first, moved].map(({ context }) => apiNamesOf(context.edge))
  assert.notDeepEqual(inputs[0], inputs[1])
})

test('a file that the hub did not write is not changed', async () => {
  const scene = sceneOf(['api.branch-7.example'], 'SKERRY_ARGS=--name a\nEXTRA=1\n')
  await assert.rejects(setApiNames(scene.context), /is not the file that the hub wrote/)
  assert.equal(restarts(scene), 0)
})

test('the step is planned while there are names, and once more when there are none any more', () => {
  const edge: EdgeCluster = stepScene().context.edge
  assert.equal(hasApiNames(edge), false)
  assert.equal(hasApiNames({ ...edge, spec: { ...edge.spec, apiNames: ['a.example'] } }), true)
  const steps = [{ name: apiNamesName, machine: '10.0.0.11', state: 'Done' as const }]
  assert.equal(hasApiNames({ ...edge, status: { steps } }), true)
})
