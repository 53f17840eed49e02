/** Fills a hub so that each page of the web console has something to show. */
import { ExpectedError, exitCodes } from '@skerry/base'
import { definitionOf, edgeSystems } from '@skerry/edge-apps'
import { until } from '@skerry/testing'
import type { TestBrowser } from '../../../testing/scenes/test-browser.ts'
import {
  startTestAgent,
  startTestEdge,
  type TestAgent,
  type TestHub,
} from '../../../testing/scenes/test-fleet.ts'

const hubGroup = 'hub.skerry.io/v1alpha1'
const policyGroup = 'policy.karmada.io/v1alpha1'
const far = '/clusters/branch-7/api/v1'
const farGroups = '/clusters/branch-7/apis'
const namespace = 'shop'
const login = { name: 'branch-7-ssh' }

interface Made {
  readonly path: string
  readonly object: unknown
}

/** Objects of the hub. Nothing is done on machines, because both are paused. */
const onHub: readonly Made[] = [
  { path: '/api/v1/namespaces', object: { metadata: { name: namespace } } },
  {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    object: { metadata: { name: 'menu' }, data: { page: 'hello' } },
  },
  {
    path: `/apis/${hubGroup}/namespaces/${namespace}/edgeclusters`,
    object: {
      apiVersion: hubGroup,
      kind: 'EdgeCluster',
      metadata: { name: 'branch-7', namespace },
      spec: {
        paused: true,
        machines: [
          { addresses: ['10.0.0.11'], role: 'Master', credentials: login },
          { addresses: ['10.0.0.[12-14]'], credentials: login },
        ],
      },
    },
  },
  {
    path: `/apis/${hubGroup}/namespaces/${namespace}/edgejobs`,
    object: {
      apiVersion: hubGroup,
      kind: 'EdgeJob',
      metadata: { name: 'pull-1', namespace },
      spec: {
        paused: true,
        pullImages: { images: ['registry.example/shop/till:1.4'] },
        clusters: { names: ['branch-7'] },
      },
    },
  },
  {
    path: `/apis/${policyGroup}/namespaces/${namespace}/propagationpolicies`,
    object: {
      apiVersion: policyGroup,
      kind: 'PropagationPolicy',
      metadata: { name: 'settings', namespace },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
        placement: { clusterAffinity: { clusterNames: ['branch-7'] } },
      },
    },
  },
]

const inCluster: readonly Made[] = [
  { path: `${far}/nodes`, object: { metadata: { name: 'n1', labels: { branch: 'east' } } } },
  { path: `${far}/nodes`, object: { metadata: { name: 'n2' } } },
  {
    path: `${far}/namespaces/default/configmaps`,
    object: { metadata: { name: 'far' }, data: { page: 'hello' } },
  },
  {
    path: `${far}/namespaces/default/serviceaccounts`,
    object: { metadata: { name: 'default' } },
  },
  {
    path: `${far}/namespaces/default/pods`,
    object: {
      metadata: { name: 'till' },
      spec: { containers: [{ name: 'till', image: 'registry.example/shop/till:1.4' }] },
    },
  },
]

/** Connects a cluster and makes objects as this user. The cluster is away when its agent is disposed of. */
export async function fillHub(
  hub: TestHub,
  user: TestBrowser,
  stack: AsyncDisposableStack,
): Promise<TestAgent> {
  const edge = stack.use(await startTestEdge({ appliesWorks: true }))
  const place = { region: 'north', zone: 'north-1' }
  const labels = { stage: 'pilot' }
  const agent = stack.use(
    await startTestAgent(hub, {
      name: 'branch-7',
      api: edge.api,
      appliesWorks: true,
      place,
      labels,
    }),
  )
  await agent.connected()
  for (const { path, object } of [...onHub, ...inCluster]) {
    const { status, text } = await user.ask({ method: 'POST', path, json: object })
    if (status >= 300) {
      throw new ExpectedError(`Cannot make an object: ${path}: ${text}`, exitCodes.failure)
    }
  }
  await makeUnits(user)
  const binding = `/apis/work.karmada.io/v1alpha2/namespaces/${namespace}/resourcebindings/menu-configmap`
  await until(async () => ((await user.ask({ path: binding })).status === 200 ? true : undefined))
  return agent
}

const unitGroup = 'site.superedge.io/v1alpha2'

/** Units of nodes: one that its parent has, one that is a cluster of its own, and one that gets its servers. */
const units: Readonly<Record<string, object>> = {
  hall: { readyRate: '1/2', readyNodes: ['n1'], notReadyNodes: ['n2'] },
  mill: unitStatus('Running', { status: 'True', message: 'its own control plane acts' }),
  yard: unitStatus('Running', {
    status: 'Unknown',
    message:
      'its own control plane acts; 2 of its 3 servers serve, not n2; n2 says: port 2380 is taken',
  }),
}

function unitStatus(phase: string, condition: object): object {
  const addresses = ['10.0.0.11', '10.0.0.12'].map((host) => ({ host, port: 6443, path: '' }))
  const conditions = [{ type: 'Init', reason: 'Released', ...condition }]
  return { unitClusterStatus: { phase, addresses, conditions, resource: {} } }
}

async function makeUnits(user: TestBrowser): Promise<void> {
  const kind = edgeSystems['superedge']?.kinds.find(({ resource }) => resource.kind === 'NodeUnit')
  if (kind === undefined) throw new TypeError('Cannot define NodeUnits: there is no such kind')
  const path = `${farGroups}/apiextensions.k8s.io/v1/customresourcedefinitions`
  await user.ask({ method: 'POST', path, json: definitionOf(kind) })
  for (const [name, status] of Object.entries(units)) {
    const object = { apiVersion: unitGroup, kind: 'NodeUnit', metadata: { name } }
    const json = { ...object, spec: { nodes: ['n1', 'n2'] } }
    const made = await until(async () => {
      const answer = await user.ask({
        method: 'POST',
        path: `${farGroups}/${unitGroup}/nodeunits`,
        json,
      })
      return answer.status === 201 ? answer.body : undefined
    })
    const statusPath = `${farGroups}/${unitGroup}/nodeunits/${name}/status`
    await user.ask({ method: 'PUT', path: statusPath, json: { ...made, status } })
  }
}
