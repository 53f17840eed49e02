/** Every way in which a user who may write in a namespace could lead an allowed service elsewhere. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import {
  startServiceScene,
  type PodShape,
  type ServiceScene,
} from '../../testing/scenes/service-scene.ts'
import { interfaceAddresses } from '../runtime/host-addresses.ts'

let scene: ServiceScene
/** The port of a server of this machine that no service may reach. */
let port: number
/** The addresses that the agent takes for the machine's own; the test's servers listen on them. */
let own: readonly string[] = []
let reached = 0

/** An address that nobody has (RFC 5737). */
const nodeAddress = '198.51.100.7'
const root = '/clusters/edge/services/shop'

before(async () => {
  const ownAddresses = () => own
  scene = await startServiceScene(['shop/*:*', 'anywhere=shop/by-hand:80'], { ownAddresses })
  await scene.allow('sven', ['*'])
  await scene.createNode('node-1', nodeAddress)
  await scene.createNode('node-2', '198.51.100.9', '10.42.7.0/24')
  const server = createServer((_request, response) => {
    reached += 1
    response.end('the server')
  })
  port = await scene.serve('served', server)
})

after(() => scene[Symbol.asyncDispose]())

async function ask(name: string): Promise<[status: number, text: string]> {
  const { status, text } = await scene.call(`${root}/${name}:80/`)
  return [status, text.startsWith('{') ? String(JSON.parse(text).message) : text]
}

interface Attempt {
  readonly service: Record<string, unknown>
  /** Addresses of a slice that somebody writes. */
  readonly slice?: readonly string[]
  readonly pod?: { readonly address: string } & PodShape
  readonly why: RegExp
}

const noEndpoints = /it has no ready endpoints/
const noSelector = /it has no selector; only --allow-service anywhere=shop\/[\w-]+:80 leads there/
const ofMachine = /it leads to a node or to an address of the machine's own/
const ports = () => [{ port: 80, targetPort: port }]
const ofNoNode =
  /its pods have addresses outside of spec\.podCIDRs of their nodes; .*anywhere=shop\//
const selecting = (name: string) => ({ selector: { app: name }, ports: ports() })

/** The attempts by their services' names. Each leads to a server of this machine if the agent believes it. */
const attempts: Readonly<Record<string, () => Attempt>> = {
  'no-selector': () => ({ service: { ports: ports() }, slice: [scene.address], why: noSelector }),
  'slice-beside-selector': () => ({
    service: selecting('slice-beside-selector'),
    slice: [scene.address],
    why: noEndpoints,
  }),
  headless: () => ({
    service: { ...selecting('headless'), clusterIP: 'None' },
    slice: [scene.address],
    why: noEndpoints,
  }),
  'external-name': () => ({
    service: { type: 'ExternalName', externalName: 'localhost', ports: ports() },
    why: /it is an ExternalName; only --allow-service anywhere=/,
  }),
  'external-ips': () => ({
    service: { ...selecting('external-ips'), externalIPs: [scene.address] },
    why: noEndpoints,
  }),
  'node-port': () => ({
    service: { ...selecting('node-port'), type: 'NodePort' },
    why: noEndpoints,
  }),
  'host-network': () => ({
    service: selecting('host-network'),
    pod: { address: scene.address, spec: { hostNetwork: true } },
    why: noEndpoints,
  }),
  'pod-of-a-node': () => ({
    service: selecting('pod-of-a-node'),
    pod: { address: nodeAddress },
    why: ofMachine,
  }),
  'no-node': () => ({
    service: selecting('no-node'),
    pod: { address: scene.address, spec: { nodeName: '' } },
    why: noEndpoints,
  }),
  'node-that-is-not-there': () => ({
    service: selecting('node-that-is-not-there'),
    pod: { address: scene.address, spec: { nodeName: 'nowhere' } },
    why: ofNoNode,
  }),
  'node-without-a-range': () => ({
    service: selecting('node-without-a-range'),
    pod: { address: scene.address, spec: { nodeName: 'node-1' } },
    why: ofNoNode,
  }),
  'range-of-another-node': () => ({
    service: selecting('range-of-another-node'),
    pod: { address: scene.address, spec: { nodeName: 'node-2' } },
    why: ofNoNode,
  }),
  'only-host-ip': () => ({
    service: selecting('only-host-ip'),
    pod: {
      address: '198.51.100.8',
      status: { podIP: '', podIPs: [], hostIP: scene.address },
    },
    why: noEndpoints,
  }),
  'other-labels': () => ({
    service: selecting('other-labels'),
    pod: { address: scene.address, labels: { app: 'another' } },
    slice: [scene.address],
    why: noEndpoints,
  }),
  'not-ready': () => ({
    service: selecting('not-ready'),
    pod: { address: scene.address, status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    slice: [scene.address],
    why: noEndpoints,
  }),
  ended: () => ({
    service: { ...selecting('ended'), publishNotReadyAddresses: true },
    pod: { address: scene.address, status: { phase: 'Failed' } },
    why: noEndpoints,
  }),
  'unnamed-port': () => ({
    service: { selector: { app: 'unnamed-port' }, ports: [{ port: 80, targetPort: 'http' }] },
    pod: { address: scene.address },
    // It has the port under that name, and the pod does not.
    slice: [scene.address],
    why: noEndpoints,
  }),
  'udp-port': () => ({
    service: { selector: { app: 'udp-port' }, ports: [{ port: 80, targetPort: 'http' }] },
    pod: {
      address: scene.address,
      spec: {
        containers: [
          {
            name: 'main',
            image: 'main',
            ports: [{ name: 'http', containerPort: port, protocol: 'UDP' }],
          },
        ],
      },
    },
    why: noEndpoints,
  }),
}

test('a user who may write services, slices and labels leads an allowed service to nothing but its pods', async () => {
  for (const [name, attempt] of Object.entries(attempts)) {
    const { service, slice, pod, why } = attempt()
    await scene.createService(name, service)
    if (slice) await scene.createEndpoints(name, slice, { port })
    if (pod) await scene.createPod(name, pod.address, pod)
    const before = reached
    const [status, text] = await ask(name)
    assert.ok(status === 403 || status === 503, `${name}: ${status} ${text}`)
    assert.match(text, why, name)
    assert.equal(reached, before, name)
  }
  assert.deepEqual(await ask('served'), [200, 'the server'])
})

test('pods that are ready, or that the service publishes before, are reached at the port that it names', async () => {
  const container = { name: 'main', image: 'main', ports: [{ name: 'http', containerPort: port }] }
  const named = { selector: { app: 'by-name' }, ports: [{ port: 80, targetPort: 'http' }] }
  await scene.createService('by-name', named)
  await scene.createPod('by-name', scene.address, { spec: { containers: [container] } })
  await scene.createService('early', { ...selecting('early'), publishNotReadyAddresses: true })
  const conditions = [{ type: 'Ready', status: 'False' }]
  await scene.createPod('early', scene.address, { status: { conditions } })
  const application = { ...ports()[0], appProtocol: 'example.com/tunnel' }
  await scene.createService('application', {
    selector: { app: 'application' },
    ports: [application],
  })
  await scene.createPod('application', scene.address)
  for (const name of ['by-name', 'early', 'application']) {
    assert.deepEqual(await ask(name), [200, 'the server'], name)
  }
})

test('endpoints that are written by hand are reached where the operator allows it by name', async () => {
  await scene.createService('by-hand', { ports: [{ port: 80 }] })
  await scene.createEndpoints('by-hand', [scene.address], { port })
  assert.deepEqual(await ask('by-hand'), [200, 'the server'])
})

test('the machine itself is reached by no service, whichever of its addresses is named and in which form', async () => {
  const before = reached
  own = interfaceAddresses()
  try {
    assert.ok(own.includes(scene.address) && own.includes('127.0.0.1'))
    const answers = [await ask('served'), await ask('by-hand'), await ask('by-name')]
    for (const [status, text] of answers)
      assert.deepEqual([status, ofMachine.test(text)], [403, true])
    // Read for each connection: an address that the machine gets later is its own at once.
    own = [`::ffff:${scene.address}`, '203.0.113.1']
    assert.equal((await ask('served'))[0], 403)
    own = ['203.0.113.1']
    assert.equal((await ask('served'))[0], 200)
  } finally {
    own = []
  }
  assert.equal(reached, before + 1)
})
